import type { Actor } from '../../access/actor.js';
import type { Caller } from '../../kernel/caller.js';
import type { Randomness } from '../../kernel/clock.js';
import type { ChannelId, UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { canAdministerBot } from '../../users/user-permissions.js';
import { canReadActive } from '../channel-access.js';
import { channelAddress } from '../channel-address.js';
import { loadChannel } from '../load-channel.js';
import { loadPosting } from '../load-posting.js';
import { canPostSomewhere } from '../post-permissions.js';
import type { ServerChannelConfig } from './create-channel.js';

export interface GetChannelAddressInput {
  readonly channelId: ChannelId;
  /** Whom what comes by mail is from: the caller, the bot of the mail gateway, or a bot of the caller's. Null: that of the gateway. */
  readonly senderId: UserId | null;
}

/** The address to which mail for a channel is sent, the same each time (channels §4.16). */
export class GetChannelAddress {
  static readonly inject = ['unitOfWork', 'randomness', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly randomness: Randomness,
    private readonly options: Pick<ServerChannelConfig, 'mailGatewayPattern'>,
  ) {}

  /**
   * Null: the server has no mail gateway.
   * @throws DomainError UNKNOWN_CHANNEL, CANNOT_POST_IN_CHANNEL, UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER
   */
  execute(caller: Caller, { channelId, senderId }: GetChannelAddressInput): Promise<string | null> {
    const { mailGatewayPattern } = this.options;
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      const { channel } = await loadChannel(tx, actor, channelId, canReadActive);
      enforce(canPostSomewhere(await loadPosting(tx, actor, channel, null)));
      const key = {
        realmId: actor.realmId,
        channelId,
        creatorId: actor.id,
        senderId: await checkedSender(tx, actor, senderId),
      };
      if (mailGatewayPattern === null) return null;
      const known = await tx.channelAddresses.findToken(key);
      const token = known ?? this.randomness.uuid().replaceAll('-', '');
      if (known === null) await tx.channelAddresses.add(key, token);
      return channelAddress(mailGatewayPattern, channel, token);
    });
  }
}

async function checkedSender(tx: Transaction, actor: Actor, senderId: UserId | null): Promise<UserId> {
  const gateway = await tx.users.findSystemBot(actor.realmId, 'mailGateway');
  if (senderId === null || senderId === gateway.id) return gateway.id;
  if (senderId === actor.id) return actor.id;
  enforce(canAdministerBot(actor, await tx.users.find(actor.realmId, senderId)));
  return senderId;
}
