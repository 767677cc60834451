import { mustNotBeGuest } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { ChannelId, UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { parseChannelName } from '../channel.js';
import { ChannelCreator, type ChannelOptions, type NewChannel } from '../create-channels.js';
import { findPrincipals } from '../principals.js';
import { subscribeToChannels } from '../subscribe-to-channels.js';

export interface CreateChannelInput extends NewChannel, ChannelOptions {
  /** The creator subscribes to the channel only when they are among them. */
  readonly subscriberIds: readonly UserId[];
  /** Say so in the channel for announcements. */
  readonly announce: boolean;
}

/** What the operator decides about channels. */
export interface ServerChannelConfig {
  readonly webPublicEnabled: boolean;
  /** An address with `%s` in it, for a token; null: there is no gateway that takes mail for channels. */
  readonly mailGatewayPattern: string | null;
}

/** Creates a channel with its first subscribers (channels §4.4). */
export class CreateChannel {
  static readonly inject = ['unitOfWork', ChannelCreator, 'clock', 'realmUrls', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly channelCreator: ChannelCreator,
    private readonly clock: Clock,
    private readonly realmUrls: RealmUrls,
    private readonly options: Pick<ServerChannelConfig, 'webPublicEnabled'>,
  ) {}

  /**
   * @throws DomainError INVALID_CHANNEL_NAME, CHANNEL_NAME_TAKEN, UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED, and
   * what `ChannelCreator` refuses: MUST_NOT_BE_GUEST, INVALID_CHANNEL_PRIVACY, UNKNOWN_CHANNEL_FOLDER,
   * DEFAULT_CHANNEL_MUST_BE_PUBLIC, WEB_PUBLIC_CHANNELS_DISABLED, INVALID_RETENTION, MUST_BE_OWNER,
   * TOPIC_CREATION_MUST_BE_OPEN, RATE_LIMITED, and values of permissions as `validateGroupSetting` does
   */
  async execute(caller: Caller, input: CreateChannelInput): Promise<ChannelId> {
    const parsedDescriptions = await this.channelCreator.parseDescriptions(caller.realmId, [input.description]);
    return this.uow.write(async (tx) => {
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
      const principals = await findPrincipals(tx, actor, realm, input.subscriberIds, this.realmUrls);

      const channels = await this.channelCreator.create(
        tx,
        context,
        [{ name, description: input.description }],
        input,
        wanted,
      );
      const userIds = principals.map((user) => user.id);
      await subscribeToChannels(tx, { channels, userIds, requestedColors: new Map() });
      await this.channelCreator.announce(tx, context, channels, input.announce);
      return channels[0]!.id;
    });
  }
}

export function channelNameTaken(name: string): DomainError {
  return new DomainError('CHANNEL_NAME_TAKEN', `Channel '${name}' already exists`, { channelName: name });
}
