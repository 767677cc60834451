import type { Caller } from '../../shared/caller.js';
import type { Clock } from '../../shared/clock.js';
import { DomainError } from '../../shared/errors.js';
import type { ChannelId, UserId } from '../../shared/ids.js';
import { enforce } from '../../shared/permission.js';
import type { RealmAddresses } from '../../shared/realm-address.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { mustNotBeGuest } from '../../users/role-gates.js';
import { parseChannelName } from '../channel.js';
import type { ChannelFoundry, ChannelWishes, NewChannel } from '../create-channels.js';
import { followChannels } from '../follow-channels.js';
import { findPrincipals } from '../principals.js';

export interface CreateChannelInput extends NewChannel, ChannelWishes {
  /** The creator follows the channel only when he is among them. */
  readonly subscriberIds: readonly UserId[];
  /** Say so in the channel for announcements. */
  readonly announce: boolean;
}

/** What the operator decides about channels. */
export interface ChannelOptions {
  readonly webPublicEnabled: boolean;
}

/** Creates a channel with its first followers (channels §4.4). */
export class CreateChannel {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly foundry: ChannelFoundry,
    private readonly clock: Clock,
    private readonly addresses: RealmAddresses,
    private readonly options: ChannelOptions,
  ) {}

  /** @throws DomainError CHANNEL_NAME_TAKEN, NOT_PERMITTED, INVALID_INPUT, BAD_VALUE, MUST_BE_OWNER, UNSUPPORTED_COMBINATION, SYSTEM_GROUP_REQUIRED, RATE_LIMITED */
  async execute(caller: Caller, input: CreateChannelInput): Promise<ChannelId> {
    const parsedDescriptions = await this.foundry.parseDescriptions(this.uow, caller.realmId, [input.description]);
    const { actor, id } = await this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustNotBeGuest(actor));
      const name = parseChannelName(input.name);
      if (await tx.channels.findByName(caller.realmId, name)) throw channelNameTaken(name);
      const realm = await tx.realms.get(caller.realmId);
      const creator = (await tx.users.find(caller.realmId, caller.userId))!;
      const founding = { realm, actor, creator, now: this.clock.now(), parsedDescriptions, ...this.options };
      this.foundry.checkWishes(founding, input, 1);
      this.foundry.checkCreation(founding, input);
      await this.foundry.checkTopicCreation(tx, founding, input);
      const wanted = await this.foundry.acceptPermissions(tx, founding, input);
      await this.foundry.checkDeletePolicy(tx, founding, wanted);
      const principals = await findPrincipals(tx, actor, realm, input.subscriberIds, this.addresses);

      const channels = await this.foundry.found(
        tx,
        founding,
        [{ name, description: input.description }],
        input,
        wanted,
      );
      const userIds = principals.map((user) => user.id);
      await followChannels(tx, { channels, userIds, requestedColors: new Map() });
      await this.foundry.announce(tx, founding, channels, input.announce);
      return { actor, id: channels[0]!.id };
    });
    this.foundry.count(actor, 1);
    return id;
  }
}

export function channelNameTaken(name: string): DomainError {
  return new DomainError('CHANNEL_NAME_TAKEN', `Channel '${name}' already exists`, { channelName: name });
}
