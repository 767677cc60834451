import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { DEFAULT_CHANNEL_OPTIONS } from '../create-channels.js';
import { SubscribeUsers, type SubscribeUsersInput, type SubscribeUsersOutput } from './subscribe-users.js';
import { UnsubscribeUsers, type UnsubscribeUsersOutput } from './unsubscribe-users.js';

export interface ChangeSubscriptionsInput {
  readonly add: SubscribeUsersInput['channels'];
  /** Names. */
  readonly remove: readonly string[];
}

export interface ChangeSubscriptionsOutput {
  readonly added: SubscribeUsersOutput;
  readonly removed: UnsubscribeUsersOutput;
}

/** Subscribes to channels and leaves others, oneself, all or nothing (channels §4.7). */
export class ChangeSubscriptions {
  static readonly inject = ['unitOfWork', SubscribeUsers, UnsubscribeUsers] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly subscribeUsers: SubscribeUsers,
    private readonly unsubscribeUsers: UnsubscribeUsers,
  ) {}

  /** @throws DomainError NO_SUBSCRIPTION_CHANGE, and what SubscribeUsers and UnsubscribeUsers refuse */
  async execute(caller: Caller, { add, remove }: ChangeSubscriptionsInput): Promise<ChangeSubscriptionsOutput> {
    if (add.length + remove.length === 0) throw new DomainError('NO_SUBSCRIPTION_CHANGE', 'No channel is named.');
    const input: SubscribeUsersInput = {
      channels: add,
      principals: null,
      options: DEFAULT_CHANNEL_OPTIONS,
      announce: false,
      failsOnInaccessible: true,
      notifyNewSubscribers: true,
    };
    const parsedDescriptions = await this.subscribeUsers.parseDescriptions(caller, input);
    return this.uow.write(async (tx) => ({
      added: await this.subscribeUsers.subscribe(tx, caller, input, parsedDescriptions),
      removed: await this.unsubscribeUsers.unsubscribe(tx, caller, { channelNames: remove, principals: null }),
    }));
  }
}
