import { type Channel, normalizeTopic } from '../channels/channel.js';
import { canSeeMetadata } from '../channels/channel-access.js';
import { canPostSomewhere, loadPosting } from '../channels/post-permissions.js';
import { DomainError } from '../kernel/errors.js';
import { type EphemeralAnnouncement, type EphemeralEvents, users as usersNamed } from '../kernel/event.js';
import type { Caller, ChannelId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import { all, enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow } from '../kernel/work.js';
import { loadReadable } from '../messages/load-access.js';
import { participantIdsOf, type UserSummary, userSummary } from '../messages/message.js';
import { canEditContent } from '../messages/message-permissions.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { User } from '../users/user.js';

export type TypingOp = 'start' | 'stop';

export interface TypingEventTypes {
  /** Sent to the conversation (events §7.4). */
  'typing.changed': {
    readonly op: TypingOp;
    readonly sender: UserSummary;
    readonly to:
      | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
      /** All participants, including the sender, in the order given by the sender. */
      | { readonly kind: 'direct'; readonly people: readonly UserSummary[] };
  };
  /** Sent to the same audience while the sender edits a message. */
  'typing.editing': {
    readonly op: TypingOp;
    readonly senderId: UserId;
    readonly messageId: MessageId;
    readonly to:
      | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
      | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };
  };
}

declare module '../kernel/feature-types.js' {
  interface EphemeralEventTypes extends TypingEventTypes {}
}

/** Maximum number of people in a conversation with typing events; larger ones get none (users §9.1). */
export const MAX_TYPING_RECEIVERS = 100;

export interface NotifyTypingInput {
  readonly op: TypingOp;
  /** Null if not given. */
  readonly to:
    | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string | null }
    | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };
}

/** Notifies a conversation that the caller started or stopped typing (users §9.1). */
export class NotifyTyping {
  static readonly inject = ['unitOfWork', 'ephemeralEvents'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly events: EphemeralEvents,
  ) {}

  /**
   * @throws DomainError TOPIC_REQUIRED, TYPING_NOTIFICATIONS_DISABLED, UNKNOWN_CHANNEL, RECIPIENTS_REQUIRED,
   * UNKNOWN_USER, and the codes for denied posting in a channel
   */
  async execute(caller: Caller, { op, to }: NotifyTypingInput): Promise<void> {
    const announcement = await this.uow.read(caller.realmId, (reads) =>
      to.kind === 'channel' ? inChannel(reads, caller, op, to) : inConversation(reads, caller, op, to.userIds),
    );
    if (announcement) this.events.publishEphemeral(caller.realmId, announcement);
  }
}

/** Notifies the readers of a message that its sender started or stopped editing it (users §9.2). */
export class NotifyTypingInMessage {
  static readonly inject = ['unitOfWork', 'ephemeralEvents', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly events: EphemeralEvents,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_MESSAGE, TYPING_NOTIFICATIONS_DISABLED, and the codes for denied editing */
  async execute(
    caller: Caller,
    { op, messageId }: { readonly op: TypingOp; readonly messageId: MessageId },
  ): Promise<void> {
    const { realmId } = caller;
    const announcement = await this.uow.read(realmId, async (reads): Promise<EphemeralAnnouncement | null> => {
      const actor = await reads.actors.get(caller);
      const { message, channel } = await loadReadable(reads, actor, messageId, { modifying: true });
      enforce(canEditContent(actor, await reads.realms.get(realmId), message, this.clock.now()));
      const sender = await reads.users.get(realmId, actor.id);
      if (channel) {
        requireNotifying(sender, 'channel');
        const receivers = await typingReceivers(reads, realmId, channel);
        const to = { kind: 'channel', channelId: channel.id, topic: message.topic } as const;
        return receivers && announcing({ type: 'typing.editing', op, senderId: sender.id, messageId, to }, receivers);
      }
      requireNotifying(sender, 'direct');
      const userIds = (await participantIdsOf(reads, message)) ?? [];
      if (userIds.length > MAX_TYPING_RECEIVERS) return null;
      const people = await reads.users.list(realmId, userIds);
      const to = { kind: 'direct', userIds } as const;
      return announcing({ type: 'typing.editing', op, senderId: sender.id, messageId, to }, receiverIds(people));
    });
    if (announcement) this.events.publishEphemeral(realmId, announcement);
  }
}

async function inChannel(
  reads: Repositories,
  { realmId, userId }: Caller,
  op: TypingOp,
  { channelId, topic: raw }: Extract<NotifyTypingInput['to'], { kind: 'channel' }>,
): Promise<EphemeralAnnouncement | null> {
  if (raw === null) throw new DomainError('TOPIC_REQUIRED', 'Missing topic');
  const sender = await reads.users.get(realmId, userId);
  requireNotifying(sender, 'channel');
  const actor = await reads.actors.get({ realmId, userId });
  const channel = await reads.channels.find(realmId, channelId);
  if (!channel) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel ID');
  const posting = await loadPosting(reads, actor, channel, null);
  enforce(
    all(canSeeMetadata(actor, channel, posting.isSubscribed || posting.isOwnerSubscribed), canPostSomewhere(posting)),
  );
  const topic = normalizeTopic(raw);
  const receivers = await typingReceivers(reads, realmId, channel);
  const to = { kind: 'channel', channelId, topic } as const;
  return receivers && announcing({ type: 'typing.changed', op, sender: userSummary(sender), to }, receivers);
}

async function inConversation(
  reads: Repositories,
  { realmId, userId }: Caller,
  op: TypingOp,
  userIds: readonly UserId[],
): Promise<EphemeralAnnouncement | null> {
  if (userIds.length === 0) throw new DomainError('RECIPIENTS_REQUIRED', "Empty 'to' list");
  const sender = await reads.users.get(realmId, userId);
  requireNotifying(sender, 'direct');
  const ids = [...new Set([...userIds, userId])];
  if (ids.length > MAX_TYPING_RECEIVERS) return null;
  const usersById = new Map((await reads.users.list(realmId, ids)).map((user) => [user.id, user]));
  const actor = await reads.actors.get({ realmId, userId });
  const inaccessible = await inaccessibleUserIds(reads, actor, await reads.realms.get(realmId), ids);
  const unknown = userIds.find((id) => !usersById.has(id) || inaccessible.has(id));
  if (unknown !== undefined) throw new DomainError('UNKNOWN_USER', `Invalid user ID ${unknown}`);
  const people = ids.map((id) => getOrThrow(usersById, id));
  const to = { kind: 'direct', people: people.map(userSummary) } as const;
  return announcing({ type: 'typing.changed', op, sender: userSummary(sender), to }, receiverIds(people));
}

const announcing = (event: EphemeralAnnouncement['event'], receivers: readonly UserId[]): EphemeralAnnouncement => ({
  event,
  audience: usersNamed(receivers),
});

/** @throws DomainError TYPING_NOTIFICATIONS_DISABLED */
function requireNotifying({ settings }: User, where: 'channel' | 'direct'): void {
  const isOn = where === 'channel' ? settings.sendChannelTypingNotifications : settings.sendPrivateTypingNotifications;
  if (isOn) return;
  throw new DomainError(
    'TYPING_NOTIFICATIONS_DISABLED',
    `User has disabled typing notifications for ${where} messages`,
  );
}

const receiverIds = (people: readonly User[]): readonly UserId[] =>
  people.filter(({ isActive, settings }) => isActive && settings.receivesTypingNotifications).map(({ id }) => id);

/** Returns null if there are too many receivers. */
async function typingReceivers(
  reads: Repositories,
  realmId: RealmId,
  { id }: Pick<Channel, 'id'>,
): Promise<readonly UserId[] | null> {
  if ((await reads.channels.countSubscribers(realmId, id)) > MAX_TYPING_RECEIVERS) return null;
  const ids = (await reads.channels.listSubscribers(realmId, [id])).get(id) ?? [];
  return receiverIds(await reads.users.list(realmId, ids));
}
