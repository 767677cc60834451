import type { Actor } from '../../access/actor.js';
import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { ChannelId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import { foldCase } from '../../kernel/text.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { User } from '../../users/user.js';
import { byFoldedName, type Channel, parseChannelName } from '../channel.js';
import { hasMetadataAccess } from '../channel-access.js';
import { countPrincipals, findPrincipals, type Principals } from '../principals.js';
import { checkSubscriptionCount, slicesOfUsers } from '../subscribe-to-channels.js';
import { canUnsubscribe } from '../subscription-permissions.js';
import { unsubscribeFromChannels } from '../unsubscribe-from-channels.js';

export interface UnsubscribeUsersInput {
  readonly channelNames: readonly string[];
  /** Null: the caller. */
  readonly principals: Principals | null;
}

/** One entry for each user and channel. */
export interface UnsubscribeUsersOutput {
  readonly removed: readonly string[];
  readonly notSubscribed: readonly string[];
}

/** Leaves channels, oneself or for others (channels §4.6). */
export class UnsubscribeUsers {
  static readonly inject = ['unitOfWork', 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** @throws DomainError UNKNOWN_CHANNEL, UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED, TOO_MANY_SUBSCRIPTIONS */
  execute(caller: Caller, input: UnsubscribeUsersInput): Promise<UnsubscribeUsersOutput> {
    return this.uow.write((tx) => this.unsubscribe(tx, caller, input));
  }

  /** Inside a unit that does more. @throws DomainError as `execute` does */
  async unsubscribe(
    tx: Transaction,
    caller: Caller,
    { channelNames, principals }: UnsubscribeUsersInput,
  ): Promise<UnsubscribeUsersOutput> {
    const actor = await tx.actors.get(caller);
    checkSubscriptionCount(countPrincipals(principals), channelNames.length);
    const realm = await tx.realms.get(caller.realmId);
    const people = await findPrincipals(tx, actor, realm, principals ?? [actor.id], this.realmUrls);
    const wanted = byFoldedName(channelNames.map((name) => ({ name: parseChannelName(name) })));
    const names = [...wanted.values()].map(({ name }) => name);
    const accesses = await this.findVisible(tx, actor, names, people);
    for (const person of people) {
      enforce(canUnsubscribe(actor, { id: person.id, botOwnerId: person.bot?.ownerId ?? null }, accesses));
    }
    const found = byFoldedName(accesses.map(({ channel }) => channel));
    const unknown = names.filter((name) => !found.has(foldCase(name)));
    if (unknown.length > 0) throw new DomainError('UNKNOWN_CHANNEL', `Channel(s) (${unknown.join(', ')}) do not exist`);

    const userIds = people.map((person) => person.id);
    const channels = [...wanted.keys()].map((key) => found.get(key)!);
    const { removed, notSubscribed } = await unsubscribeFromChannels(tx, channels, userIds);
    const repeated = (users: typeof removed) =>
      channels.flatMap((channel) => (users.get(channel.id) ?? []).map(() => channel.name));
    return { removed: repeated(removed), notSubscribed: repeated(notSubscribed) };
  }

  /** A channel hidden from the caller is as good as unknown (contract decision 20), unless a bot of theirs is in it. */
  private async findVisible(
    tx: Transaction,
    actor: Actor,
    names: readonly string[],
    people: readonly User[],
  ): Promise<readonly ChannelAccess[]> {
    const { realmId } = actor;
    const channels = await tx.channels.listByName(realmId, names);
    const subscribed = new Set(await tx.channels.listSubscribedIds(realmId, actor.id));
    const ownBotIds = people.filter(({ bot }) => bot?.ownerId === actor.id).map(({ id }) => id);
    const ofOwnBots = new Set<ChannelId>();
    const ids = channels.map(({ id }) => id);
    for (const bots of slicesOfUsers(ownBotIds, ids.length)) {
      for (const rows of (await tx.channels.listSubscriptionsOf(realmId, bots, ids)).values()) {
        for (const row of rows) if (row.isActive) ofOwnBots.add(row.channelId);
      }
      await tx.yield();
    }
    return channels
      .map((channel) => ({ channel, isSubscribed: subscribed.has(channel.id) }))
      .filter(
        ({ channel, isSubscribed }) => hasMetadataAccess(actor, channel, isSubscribed) || ofOwnBots.has(channel.id),
      );
  }
}

interface ChannelAccess {
  readonly channel: Channel;
  readonly isSubscribed: boolean;
}
