import { mustNotBeGuest } from '../access/actor.js';
import type { Caller, ChannelId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import { parseChannelName } from './channel.js';
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
