import { canSpectate } from '../../channels/channel-access.js';
import type { ServerChannelConfig } from '../../channels/use-cases/create-channel.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { DevelopmentMode } from '../../kernel/development-mode.js';
import { DomainError } from '../../kernel/errors.js';
import { type RealmUrls, SERVER_ITSELF } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';

export interface GetServerSettingsInput {
  /** Whether the server's own public address was asked, which belongs to no realm where there are several. */
  readonly isServerAddress: boolean;
}

export interface ServerSettings {
  /** Null: the server's own address, where no realm lives. */
  readonly realm: Realm | null;
  /** Of the realm, else of the server; without a slash at the end. */
  readonly url: string;
  readonly isDevelopment: boolean;
  /** Whether there are channels that people without an account may read. */
  readonly allowsSpectators: boolean;
}

/** What anybody may know before signing in, of deactivated realms too (protocol §10). */
export class GetServerSettings {
  static readonly inject = ['unitOfWork', 'realmUrls', 'developmentMode', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly mode: DevelopmentMode,
    private readonly options: Pick<ServerChannelConfig, 'webPublicEnabled'>,
  ) {}

  /** @throws DomainError UNKNOWN_REALM_ADDRESS */
  async execute({ realmId }: AnonymousCaller, { isServerAddress }: GetServerSettingsInput): Promise<ServerSettings> {
    const isDevelopment = this.mode.isOn;
    if (realmId === null) {
      if (!isServerAddress) throw new DomainError('UNKNOWN_REALM_ADDRESS', 'Invalid subdomain');
      return { realm: null, url: this.realmUrls.urlOf(SERVER_ITSELF), isDevelopment, allowsSpectators: false };
    }
    return this.uow.read(async ({ realms, channels }) => {
      const realm = await realms.get(realmId);
      const { webPublicEnabled } = this.options;
      return {
        realm,
        url: this.realmUrls.urlOf(realm),
        isDevelopment,
        allowsSpectators:
          webPublicEnabled &&
          canSpectate(realm, { webPublicEnabled, hasWebPublicChannel: await channels.hasWebPublic(realmId) }).allowed,
      };
    });
  }
}
