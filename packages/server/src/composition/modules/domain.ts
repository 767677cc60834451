import { createHash } from 'node:crypto';
import { EXPORT_PARTS, FILE_USERS, QUEUE_FILTERS } from '@parley/domain/composition';
import { NotificationMeter } from '@parley/domain/push';
import { AjvDataValidator } from '@parley/node-adapters';
import { HostHooks } from '../../facade/message-hooks.js';
import { type RealmAddresses, RealmResolver, serverAddressOf } from '../../kernel/realm-resolver.js';
import { Adapter } from '../adapter.js';

export interface DomainOptions {
  /** Public URL of the server. */
  readonly url: string;
  readonly defaultRealm: string | null;
  /** URL scheme of organizations other than the one at `url`; default: by host name. */
  readonly realmAddresses?: RealmAddresses;
  readonly isDev: boolean;
  /** True if nothing may leave the server, as for a copy for trying things; default: false. */
  readonly isQuiet?: boolean;
  readonly allowsWebPublicChannels: boolean;
  /** True if guests with limited access receive presence events of accessible users only; default: false. */
  readonly limitsPresence?: boolean;
  /** Address pattern with `%s` for a gateway that accepts channel emails. */
  readonly mailGatewayPattern?: string | null;
}

/** Features of the domain, and its rules that the operator decides. */
export const domain = (options: DomainOptions) =>
  new Adapter({
    options: () => options,
    realmUrls: ({ resolve }) => resolve(RealmResolver),
    serverAddress: () => serverAddressOf(options),
    developmentMode: () => ({ isOn: options.isDev }),
    presencePolicy: () => ({ limitsToAccessors: options.limitsPresence ?? false }),
    serverChannelConfig: () => ({
      webPublicEnabled: options.allowsWebPublicChannels,
      mailGatewayPattern: options.mailGatewayPattern ?? null,
    }),
    dataValidator: () => new AjvDataValidator(),
    messageHooks: ({ resolve }) => resolve(HostHooks),
    notificationMeter: () => new NotificationMeter(),
    contentDigest: () => (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
    queueFilters: () => QUEUE_FILTERS,
    fileUsers: () => FILE_USERS,
    exportParts: () => EXPORT_PARTS,
  });
