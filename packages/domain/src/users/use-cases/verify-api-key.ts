import type { ApiKeyMint } from '../../access/api-keys.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { EventListener } from '../../kernel/event-listener.js';
import type { StoredEvent } from '../../kernel/event-log.js';
import type { RealmId, UserId } from '../../kernel/ids.js';
import { foldCase } from '../../kernel/text.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { KnownCallers } from '../known-callers.js';
import type { BotKind } from '../user.js';
import { accountDeactivated, realmDeactivated } from './password-log-in.js';

export interface VerifyApiKeyInput {
  /** Null: whose the key is. */
  readonly email: string | null;
  /** 32 letters and digits; whoever takes it from a request has checked that. */
  readonly apiKey: string;
}

export interface VerifiedUser {
  readonly realmId: RealmId;
  readonly userId: UserId;
  /** Null: a person. */
  readonly botKind: BotKind | null;
}

/** Who calls, by address and key (protocol §7.2); the refusals come in the contract's order. */
export class VerifyApiKey implements EventListener {
  static readonly inject = ['unitOfWork', 'apiKeyMint'] as const;

  /** By address and fingerprint. */
  private readonly known = new KnownCallers<VerifiedUser>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
  ) {}

  /** @throws DomainError UNAUTHENTICATED, REALM_DEACTIVATED, USER_DEACTIVATED */
  async execute({ realmId }: AnonymousCaller, { email, apiKey }: VerifyApiKeyInput): Promise<VerifiedUser> {
    const fingerprint = this.mint.fingerprint(apiKey);
    const claim = `${fingerprint}:${foldCase(email ?? '')}`;
    const user = this.known.find(claim) ?? (await this.known.lookUp(claim, () => this.lookUp(fingerprint, email)));
    if (user.realmId !== realmId) {
      throw new DomainError('UNAUTHENTICATED', 'Account is not associated with this subdomain');
    }
    return user;
  }

  onEvents(events: readonly StoredEvent[]): void {
    this.known.onEvents(events);
  }

  onUnreadable(): void {
    this.known.onUnreadable();
  }

  private lookUp(fingerprint: string, email: string | null): Promise<VerifiedUser> {
    return this.uow.read(async ({ apiKeys, users, realms }) => {
      const record = await apiKeys.findByFingerprint(fingerprint);
      const user = record && (await users.find(record.realmId, record.userId));
      if (!user || (email !== null && foldCase(user.email) !== foldCase(email))) {
        throw new DomainError('UNAUTHENTICATED', 'Invalid API key');
      }
      if ((await realms.get(user.realmId)).isDeactivated) throw realmDeactivated();
      if (!user.isActive) throw accountDeactivated();
      return { realmId: user.realmId, userId: user.id, botKind: user.bot?.kind ?? null };
    });
  }
}
