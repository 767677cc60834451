import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { DefaultChannelGroupId } from '../../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { type DefaultChannelGroup, defaultGroupNameTaken, parseDefaultGroupName } from '../default-channel-group.js';
import { publishDefaultChannelGroups } from '../default-channel-group-views.js';
import { loadDefaultChannelGroup } from '../load-default-channel-group.js';

export interface ChangeDefaultChannelGroupInput {
  readonly groupId: DefaultChannelGroupId;
  readonly name?: string;
  readonly description?: string;
}

/** What a group is called and like (channels §4.14). */
export class ChangeDefaultChannelGroup {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * @throws DomainError CANNOT_MANAGE_DEFAULT_CHANNEL, DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED,
   * UNKNOWN_DEFAULT_CHANNEL_GROUP, DEFAULT_CHANNEL_GROUP_NAME_UNCHANGED, INVALID_DEFAULT_CHANNEL_GROUP_NAME,
   * DEFAULT_CHANNEL_GROUP_NAME_TAKEN
   */
  execute(caller: Caller, { groupId, name, description }: ChangeDefaultChannelGroupInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const group = await loadDefaultChannelGroup(tx, caller, groupId, () => {
        if (name !== undefined || description !== undefined) return;
        throw new DomainError('DEFAULT_CHANNEL_GROUP_CHANGE_REQUIRED', 'Neither a name nor a description is given.');
      });
      await tx.defaultChannelGroups.update({
        ...group,
        name: name === undefined ? group.name : await newName(tx, group, name),
        description: description ?? group.description,
      });
      await publishDefaultChannelGroups(tx, group.realmId);
    });
  }
}

async function newName(tx: Transaction, group: DefaultChannelGroup, typed: string): Promise<string> {
  const name = parseDefaultGroupName(typed);
  if (name === group.name) {
    const text = `This default channel group is already named '${name}'`;
    throw new DomainError('DEFAULT_CHANNEL_GROUP_NAME_UNCHANGED', text);
  }
  const holder = await tx.defaultChannelGroups.findByName(group.realmId, name);
  if (holder && holder.id !== group.id) throw defaultGroupNameTaken(name);
  return name;
}
