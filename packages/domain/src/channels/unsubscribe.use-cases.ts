import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId } from '../kernel/ids.js';
import type { RequestPlan } from '../kernel/job-parts.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import type { User } from '../users/user.js';
import { byFoldedName, type Channel, parseChannelName } from './channel.js';
import {
  countPrincipals,
  findPrincipals,
  hasMetadataAccess,
  type Principals,
  subscribedAmong,
} from './channel-access.js';
import { canUnsubscribe } from './channel-permissions.js';
import { checkSubscriptionCount } from './subscribing.js';
import {
  ChangeSubscriptionParts,
  isOneUnit,
  type SelectedSubscriptions,
  type SubscriptionPart,
  type SubscriptionPartResult,
  unsubscribingParts,
} from './subscription-parts.js';

export interface UnsubscribeUsersInput {
  readonly channelNames: readonly string[];
  /** Null for the caller. */
  readonly principals: Principals | null;
}

/** One entry per user and channel. */
export interface UnsubscribeUsersOutput {
  readonly removed: readonly string[];
  readonly notSubscribed: readonly string[];
}

/** Unsubscribes users from channels, on behalf of one caller (channels §4.6). */
export class ChannelUnsubscriber {
  static readonly inject = ['realmUrls', ChangeSubscriptionParts] as const;
  constructor(
    private readonly realmUrls: RealmUrls,
    private readonly parts: ChangeSubscriptionParts,
  ) {}

  /**
   * Splits large requests into several units of work (contract decision 10).
   * @throws DomainError UNKNOWN_CHANNEL, UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED, TOO_MANY_SUBSCRIPTIONS
   */
  async unsubscribe(caller: Caller, input: UnsubscribeUsersInput): Promise<UnsubscribeUsersOutput> {
    const isSmall = isOneUnit(countPrincipals(input.principals), input.channelNames.length);
    return this.output(caller, input, (plan) => this.parts.change(caller.realmId, isSmall, plan));
  }

  /** Runs as part of a larger transaction. @throws DomainError like `unsubscribe` */
  unsubscribeIn(tx: Transaction, caller: Caller, input: UnsubscribeUsersInput): Promise<UnsubscribeUsersOutput> {
    return this.output(caller, input, (plan) => this.parts.changeIn(tx, caller.realmId, plan));
  }

  private async output(
    caller: Caller,
    input: UnsubscribeUsersInput,
    perform: (plan: RequestPlan<SubscriptionPart>) => Promise<SubscriptionPartResult>,
  ): Promise<UnsubscribeUsersOutput> {
    let channels: readonly Channel[] = [];
    const { changed, unchanged } = await perform(async (reads) => {
      const selected = await this.check(reads, caller, input);
      channels = selected.channels;
      return unsubscribingParts(channels, selected.userIds);
    });
    const namesIn = (users: typeof changed) =>
      channels.flatMap((channel) => (users.get(channel.id) ?? []).map(() => channel.name));
    return { removed: namesIn(changed), notSubscribed: namesIn(unchanged) };
  }

  /** Returns the channels and users. @throws DomainError like `unsubscribe` */
  async check(
    tx: Reads,
    caller: Caller,
    { channelNames, principals }: UnsubscribeUsersInput,
  ): Promise<SelectedSubscriptions> {
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
    return {
      channels: [...wanted.keys()].map((key) => getOrThrow(found, key)),
      userIds: people.map((person) => person.id),
    };
  }

  /**
   * Finds channels and reports hidden ones as unknown (contract decision 20), unless a bot of the caller is subscribed.
   */
  private async findVisible(
    tx: Reads,
    actor: Actor,
    names: readonly string[],
    people: readonly User[],
  ): Promise<readonly ChannelAccess[]> {
    const { realmId } = actor;
    const channels = await tx.channels.listByName(realmId, names);
    const subscribed = await subscribedAmong(tx, actor, channels);
    const ownBotIds = people.filter(({ bot }) => bot?.ownerId === actor.id).map(({ id }) => id);
    const ofOwnBots = new Set<ChannelId>();
    const ids = channels.map(({ id }) => id);
    for (const rows of (await tx.channels.listSubscriptionsOf(realmId, ownBotIds, ids)).values()) {
      for (const row of rows) if (row.isActive) ofOwnBots.add(row.channelId);
    }
    return channels
      .map((channel) => ({ channel, isSubscribed: subscribed.has(channel.id) }))
      .filter(
        ({ channel, isSubscribed }) => hasMetadataAccess(actor, channel, isSubscribed) || ofOwnBots.has(channel.id),
      );
  }
}

/** Unsubscribes the caller or other users from channels (channels §4.6). */
export class UnsubscribeUsers {
  static readonly inject = [ChannelUnsubscriber] as const;
  constructor(private readonly unsubscriber: ChannelUnsubscriber) {}

  /** @throws DomainError the codes of `ChannelUnsubscriber.unsubscribe` */
  execute(caller: Caller, input: UnsubscribeUsersInput): Promise<UnsubscribeUsersOutput> {
    return this.unsubscriber.unsubscribe(caller, input);
  }
}

type Reads = Pick<Repositories | Transaction, 'actors' | 'channels' | 'realms' | 'users'>;

interface ChannelAccess {
  readonly channel: Channel;
  readonly isSubscribed: boolean;
}
