import { mustBeAdministrator } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { ChannelId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { type Channel, type ChannelView, isPrivate, isWebPublic } from '../channel.js';
import { hasContentAccess, hasMetadataAccess } from '../channel-access.js';

export interface ListChannelsInput {
  readonly includePublic: boolean;
  readonly includeWebPublic: boolean;
  readonly includeSubscribed: boolean;
  readonly includeOwnerSubscribed: boolean;
  readonly includeReadable: boolean;
  /** Everything they may know of; the other choices do not matter then. */
  readonly includeAll: boolean;
  /** The same, for administrators only. */
  readonly includeAllActive: boolean;
  readonly excludeArchived: boolean;
  readonly includeDefault: boolean;
}

export interface ListChannelsOutput {
  /** By name, in code-point order. */
  readonly channels: readonly ChannelView[];
}

/** The channels of the realm, as far as the caller may know of them (channels §4.1). */
export class ListChannels {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR */
  execute(caller: Caller, input: ListChannelsInput): Promise<ListChannelsOutput> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      if (input.includeAllActive) enforce(mustBeAdministrator(actor));
      const { realmId } = actor;
      const own = new Set(await repositories.channels.listSubscribedIds(realmId, actor.id));
      const ofOwner =
        input.includeOwnerSubscribed && actor.botOwnerId !== null
          ? new Set(await repositories.channels.listSubscribedIds(realmId, actor.botOwnerId))
          : new Set<ChannelId>();

      const isKnown = (channel: Channel) => hasMetadataAccess(actor, channel, own.has(channel.id));
      const isWanted = (channel: Channel): boolean => {
        if (input.includeAll || input.includeAllActive) return isKnown(channel);
        if (ofOwner.has(channel.id)) return true;
        if (input.includeDefault && channel.isDefault && isKnown(channel)) return true;
        if (input.includeReadable) return hasContentAccess(actor, channel, own.has(channel.id));
        return (
          (input.includePublic && actor.role !== 'guest' && !isPrivate(channel)) ||
          (input.includeWebPublic && isWebPublic(channel)) ||
          (input.includeSubscribed && own.has(channel.id))
        );
      };
      const isListed = (channel: Channel) => !(input.excludeArchived && channel.isArchived) && isWanted(channel);
      return { channels: await repositories.channels.listViewsWhere(realmId, isListed) };
    });
  }
}
