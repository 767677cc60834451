import { mustNotBeGuest } from '../access/actor.js';
import { orThrow } from '../kernel/errors.js';
import type { Caller, ChannelId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import { parseChannelName } from './channel.js';
import { findPrincipals } from './channel-access.js';
import {
  ChannelCreator,
  type ChannelOptions,
  channelNameTaken,
  type NewChannel,
  type ServerChannelConfig,
} from './create-channels.use-cases.js';
import { subscribeToChannels } from './subscribing.js';
import { ChangeSubscriptionParts, isOneUnit, loadPrincipals, MAX_SUBSCRIPTIONS_AT_ONCE } from './subscription-parts.js';

export interface CreateChannelInput extends NewChannel, ChannelOptions {
  /** First subscribers; includes the creator only if listed. */
  readonly subscriberIds: readonly UserId[];
  /** True to post a notice in the announcement channel. */
  readonly announce: boolean;
}

/** Creates a channel with its first subscribers (channels §4.4). */
export class CreateChannel {
  static readonly inject = ['unitOfWork', ChannelCreator, 'clock', 'realmUrls', 'serverChannelConfig'] as const;
  private readonly parts: ChangeSubscriptionParts;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly channelCreator: ChannelCreator,
    private readonly clock: Clock,
    private readonly realmUrls: RealmUrls,
    private readonly options: Pick<ServerChannelConfig, 'webPublicEnabled'>,
  ) {
    this.parts = new ChangeSubscriptionParts(uow, channelCreator, clock, options);
  }

  /**
   * Adds many subscribers in several units of work (contract decision 10).
   * @throws DomainError INVALID_CHANNEL_NAME, CHANNEL_NAME_TAKEN, UNKNOWN_USER, NAMED_USER_DEACTIVATED,
   * NOT_PERMITTED, and the rejections of `ChannelCreator`: MUST_NOT_BE_GUEST, INVALID_CHANNEL_PRIVACY,
   * UNKNOWN_CHANNEL_FOLDER, DEFAULT_CHANNEL_MUST_BE_PUBLIC, WEB_PUBLIC_CHANNELS_DISABLED, INVALID_RETENTION,
   * MUST_BE_OWNER, TOPIC_CREATION_MUST_BE_OPEN, RATE_LIMITED, and values of permissions as `validateGroupSetting`
   * does
   */
  async execute(caller: Caller, input: CreateChannelInput): Promise<ChannelId> {
    const parsedDescriptions = await this.channelCreator.parseDescriptions(caller.realmId, [input.description]);
    const people = isOneUnit(input.subscriberIds.length, 1)
      ? undefined
      : await loadPrincipals(this.uow, caller, input.subscriberIds, this.realmUrls);
    const { channelId, jobs } = await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(mustNotBeGuest(actor));
      const name = parseChannelName(input.name);
      if (await tx.channels.findByName(caller.realmId, name)) throw channelNameTaken(name);
      const realm = await tx.realms.get(caller.realmId);
      const creator = (await tx.users.find(caller.realmId, caller.userId))!;
      const context = { realm, actor, creator, now: this.clock.now(), parsedDescriptions, ...this.options };
      await this.channelCreator.checkOptions(tx, context, input, 1);
      this.channelCreator.checkCreation(context, input);
      await this.channelCreator.checkTopicCreation(tx, context, input);
      const wanted = await this.channelCreator.validatePermissions(tx, context, input);
      await this.channelCreator.checkDeletePolicy(tx, context, wanted);
      const principals =
        people === undefined
          ? await findPrincipals(tx, actor, realm, input.subscriberIds, this.realmUrls)
          : orThrow(people);

      const channels = await this.channelCreator.create(
        tx,
        context,
        [{ name, description: input.description }],
        input,
        wanted,
      );
      const userIds = principals.map((user) => user.id);
      const [first = [], ...others] = [...slicesOf(userIds, MAX_SUBSCRIPTIONS_AT_ONCE)];
      await subscribeToChannels(tx, { channels, userIds: first, requestedColors: new Map() });
      await this.channelCreator.announce(tx, context, channels, input.announce);
      const channelIds = channels.map(({ id }) => id);
      const jobs = await this.parts.schedule(
        tx,
        caller.realmId,
        others.map((some) => ({ op: 'add', channelIds, userIds: some, colors: [] })),
      );
      return { channelId: channelIds[0]!, jobs };
    });
    await this.parts.run(jobs);
    return channelId;
  }
}
