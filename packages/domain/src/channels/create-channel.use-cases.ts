import { mustNotBeGuest } from '../access/actor.js';
import { groupsHolding } from '../access/group-closure.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, GroupId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import {
  type Channel,
  hasSharedHistory,
  isPrivate,
  isWebPublic,
  normalizeChannelDescription,
  parseChannelName,
} from './channel.js';
import { findPrincipals } from './channel-access.js';
import { ChannelCreator, type ChannelOptions, channelNameTaken, type NewChannel } from './create-channels.use-cases.js';
import { ChangeSubscriptionParts, isOneUnit, subscribingParts } from './subscription-parts.js';

export interface CreateChannelInput extends NewChannel, ChannelOptions {
  /** First subscribers; includes the creator only if listed. */
  readonly subscriberIds: readonly UserId[];
  /** True to post a notice in the announcement channel. */
  readonly announce: boolean;
}

/** Creates a channel with its first subscribers (channels §4.4). */
export class CreateChannel {
  static readonly inject = [ChannelCreator, ChangeSubscriptionParts, 'realmUrls'] as const;
  constructor(
    private readonly channelCreator: ChannelCreator,
    private readonly parts: ChangeSubscriptionParts,
    private readonly realmUrls: RealmUrls,
  ) {}

  /**
   * Adds many subscribers in several units of work (contract decision 10).
   * @throws DomainError INVALID_CHANNEL_NAME, CHANNEL_NAME_TAKEN, UNKNOWN_USER, NAMED_USER_DEACTIVATED,
   * NOT_PERMITTED, and the rejections of `ChannelCreator`: MUST_NOT_BE_GUEST, INVALID_CHANNEL_PRIVACY,
   * UNKNOWN_CHANNEL_FOLDER, DEFAULT_CHANNEL_MUST_BE_PUBLIC, WEB_PUBLIC_CHANNELS_DISABLED, INVALID_RETENTION,
   * MUST_BE_OWNER, TOPIC_CREATION_MUST_BE_OPEN, RATE_LIMITED, and values of permissions as `validateGroupSetting`
   * does
   */
  async execute(caller: Caller, input: CreateChannelInput): Promise<ChannelId> {
    const { name: rawName, description, subscriberIds, announce, ...options } = input;
    const parsedDescriptions = await this.channelCreator.parseDescriptions(caller.realmId, [description]);
    const { channels } = await this.parts.change(
      caller.realmId,
      isOneUnit(subscriberIds.length, 1),
      async (unit) => {
        const actor = await unit.actors.get(caller);
        enforce(mustNotBeGuest(actor));
        const name = parseChannelName(rawName);
        if (await unit.channels.findByName(caller.realmId, name)) throw channelNameTaken(name);
        const realm = await unit.realms.get(caller.realmId);
        const context = { realm, actor };
        await this.channelCreator.checkOptions(unit, context, options, 1);
        this.channelCreator.checkCreation(context, options);
        await this.channelCreator.checkTopicCreation(unit, context, options);
        const permissions = await this.channelCreator.validatePermissions(unit, context, options);
        await this.channelCreator.checkDeletePolicy(unit, context, permissions);
        const people = await findPrincipals(unit, actor, realm, subscriberIds, this.realmUrls);
        return subscribingParts(
          [{ name, description, color: null }],
          people.map(({ id }) => id),
          { creator: caller, options, permissions, announce },
        );
      },
      parsedDescriptions,
    );
    const [channel] = channels;
    // Another user created the channel between the checks and the parts of a large request.
    if (!channel) throw channelNameTaken(trim(rawName));
    return channel.id;
  }
}

/** Properties that an existing channel is to have, as for a new one; absent ones are not compared. */
export interface ExpectedChannel {
  readonly description?: string;
  /** True also expects that no group but `readers` has access. */
  readonly isPrivate?: boolean;
  /** Compared for private channels only. */
  readonly sharesHistory?: boolean;
  readonly isDefault?: boolean;
  /** Value of `canSubscribe`. */
  readonly readers?: GroupId;
  /** Users who are among the subscribers. */
  readonly subscribers?: readonly UserId[];
  readonly closesAfterDays?: number;
}
export type ExpectedProperty = keyof ExpectedChannel;

/** Compares a channel that existed already with the one that a caller would have created. */
export class CompareChannel {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Returns the properties that differ.
   * @throws DomainError UNKNOWN_CHANNEL, or CHANNEL_NAME_TAKEN if more people can access the channel than expected
   */
  async execute({ realmId }: Caller, id: ChannelId, expected: ExpectedChannel): Promise<readonly ExpectedProperty[]> {
    const [channel, { wider, others }] = await this.uow.read(realmId, async (reads) => {
      const found = await reads.channels.get(realmId, id);
      return [found, await differencesOf(reads, found, expected)];
    });
    if (wider.length === 0) return others;
    const message = `Channel '${channel.name}' already exists and is open to more people than requested (${wider.join(', ')}).`;
    throw new DomainError('CHANNEL_NAME_TAKEN', message, { channelName: channel.name, channelId: id });
  }
}

/** `wider`: properties by which the channel is open to more people than expected. */
async function differencesOf(reads: Repositories, channel: Channel, expected: ExpectedChannel) {
  const { realmId, id } = channel;
  const wider: ExpectedProperty[] = [];
  const others: ExpectedProperty[] = [];
  const compare = (name: ExpectedProperty, isEqual: boolean, isWider = false) => {
    if (expected[name] !== undefined && !isEqual) (isWider ? wider : others).push(name);
  };
  const { description = '', subscribers = [] } = expected;
  compare('description', channel.description === normalizeChannelDescription(description));
  const hasPrivacy = expected.isPrivate === isPrivate(channel) && !isWebPublic(channel);
  compare('isPrivate', hasPrivacy, expected.isPrivate === true || isWebPublic(channel));
  if (expected.isPrivate) {
    compare('sharesHistory', expected.sharesHistory === hasSharedHistory(channel), hasSharedHistory(channel));
  }
  const { nobody } = await reads.groups.systemGroupIds(realmId);
  const readers = expected.readers ?? (expected.isPrivate ? nobody : undefined);
  const actual = channel.permissions.canSubscribe;
  if (readers !== undefined && readers !== actual) {
    const isNarrower = actual === nobody || groupsHolding(await reads.groups.listEdges(realmId), actual).has(readers);
    (isNarrower ? others : wider).push('readers');
  }
  compare('isDefault', expected.isDefault === channel.isDefault);
  const subscribed = await reads.channels.filterSubscribed(realmId, id, subscribers);
  compare('subscribers', new Set(subscribers).size === subscribed.length);
  if (expected.closesAfterDays !== undefined) {
    compare('closesAfterDays', (await reads.channelClosings.find(realmId, id))?.afterDays === expected.closesAfterDays);
  }
  return { wider, others };
}
