import type { ChannelId, EventOf, RealmUrls } from '@parley/domain/kernel';
import type {
  ChangeNarrowFlagsOutput,
  GetMessageOutput,
  Highlighted,
  MessagePage,
  MessageView,
  MovePropagation,
  PersonalFlags,
  SentMessage,
  Submessage,
  UserSummary,
} from '@parley/domain/messages';
import { dummyAddress, seesEmailOf } from '@parley/domain/users';
import { presentTopic, VISIBILITY_POLICIES } from '../channels/channel.presenters.js';
import { EMOJI_FIELDS } from '../files/emoji.js';
import { type EventContext, opened, type Presented } from '../kernel/event-presenter.js';
import type { MessagePart, PartForm } from '../kernel/message-parts.js';
import { type PublicRealm, publicRealmOf } from '../kernel/public-realm.js';
import type { WireFields } from '../kernel/reply.js';
import * as wire from '../kernel/wire-schema.js';
import { avatarUrl, unknownAvatarUrl } from '../users/avatar-urls.js';
import { UNKNOWN_USER_NAME } from '../users/user.presenters.js';

const participant = wire.named(
  'Participant',
  wire.fields({
    id: wire.integer(),
    email: wire.text(),
    full_name: wire.text(),
    is_mirror_dummy: wire.boolean(),
  }),
);

const reaction = wire.named(
  'Reaction',
  wire.fields({
    ...EMOJI_FIELDS,
    user_id: wire.integer(),
  }),
);

/** Messages §18.6. */
export const SUBMESSAGE = {
  message_id: wire.integer(),
  sender_id: wire.integer(),
  msg_type: wire.text(),
  content: wire.text(),
};

const submessage = wire.named('Submessage', wire.fields({ id: wire.integer(), ...SUBMESSAGE }));

/** What an edit and a step of a history have in common, where there was a move or a text before. */
const CHANGES = {
  prev_topic: wire.optional(wire.text()),
  prev_stream: wire.optional(wire.integer()),
  stream: wire.optional(wire.integer()),
  prev_content: wire.optional(wire.text()),
  prev_rendered_content: wire.optional(wire.text()),
};

const edit = wire.named(
  'MessageEdit',
  wire.fields({
    user_id: wire.nullable(wire.integer()),
    timestamp: wire.integer(),
    topic: wire.optional(wire.text()),
    ...CHANGES,
  }),
);

export const flags = wire.listOf(wire.text());

export const topicLinks = wire.listOf(wire.fields({ text: wire.text(), url: wire.text() }));

/** Messages §2. */
const MESSAGE = {
  id: wire.integer(),
  sender_id: wire.integer(),
  sender_full_name: wire.text(),
  sender_email: wire.text(),
  sender_realm_str: wire.text(),
  avatar_url: wire.nullable(wire.text()),
  client: wire.text(),
  content: wire.text(),
  content_type: wire.oneOf('text/html', 'text/x-markdown'),
  type: wire.oneOf('stream', 'private'),
  display_recipient: wire.anyOf(wire.text(), wire.listOf(participant)),
  recipient_id: wire.integer(),
  stream_id: wire.optional(wire.integer()),
  subject: wire.text(),
  topic_links: topicLinks,
  timestamp: wire.integer(),
  is_me_message: wire.boolean(),
  reactions: wire.listOf(reaction),
  submessages: wire.listOf(submessage),
  edit_history: wire.optional(wire.listOf(edit)),
  last_edit_timestamp: wire.optional(wire.integer()),
  last_moved_timestamp: wire.optional(wire.integer()),
  flags,
};

const message = wire.named('Message', wire.fields(MESSAGE));

const { flags: _, ...RECEIVED } = MESSAGE;

/** As events bring it: the flags are beside it. */
export const receivedMessage = wire.named('ReceivedMessage', wire.fields(RECEIVED));

const HIGHLIGHT = { match_content: wire.text(), match_subject: wire.text() };

/** Messages §5.3. */
export const MESSAGE_PAGE = wire.fields({
  anchor: wire.optional(wire.integer()),
  found_newest: wire.boolean(),
  found_oldest: wire.boolean(),
  found_anchor: wire.boolean(),
  history_limited: wire.boolean(),
  messages: wire.listOf(
    wire.named(
      'FoundMessage',
      wire.fields({
        ...MESSAGE,
        match_content: wire.optional(HIGHLIGHT.match_content),
        match_subject: wire.optional(HIGHLIGHT.match_subject),
      }),
    ),
  ),
});

/** Messages §6. */
export const ONE_MESSAGE = wire.fields({ message, raw_content: wire.text() });

/** Messages §3. */
export const SENT_MESSAGE = wire.fields({
  id: wire.integer(),
  automatic_new_visibility_policy: wire.optional(wire.integer()),
});

/** Messages §8. */
export const NARROW_MATCHES = wire.fields({ messages: wire.dictionaryOf(wire.fields(HIGHLIGHT)) });

/** Messages §10. */
export const MESSAGE_HISTORY = wire.fields({
  message_history: wire.listOf(
    wire.named(
      'MessageSnapshot',
      wire.fields({
        topic: wire.text(),
        content: wire.text(),
        rendered_content: wire.text(),
        timestamp: wire.integer(),
        user_id: wire.nullable(wire.integer()),
        ...CHANGES,
        content_html_diff: wire.optional(wire.text()),
      }),
    ),
  ),
});

const ignoredChannels = { ignored_because_not_subscribed_channels: wire.listOf(wire.integer()) };

/** Messages §13.1. */
export const CHANGED_FLAGS = wire.fields({ messages: wire.listOf(wire.integer()), ...ignoredChannels });

/** Messages §13.2. */
export const CHANGED_NARROW = wire.fields({
  processed_count: wire.integer(),
  updated_count: wire.integer(),
  first_processed_id: wire.nullable(wire.integer()),
  last_processed_id: wire.nullable(wire.integer()),
  found_oldest: wire.boolean(),
  found_newest: wire.boolean(),
  ...ignoredChannels,
});

const unread = { unread_message_ids: wire.listOf(wire.integer()) };

/** Events §4.4. */
export const unreadMessages = wire.named(
  'UnreadMessages',
  wire.fields({
    count: wire.integer(),
    pms: wire.listOf(wire.fields({ other_user_id: wire.integer(), sender_id: wire.integer(), ...unread })),
    streams: wire.listOf(wire.fields({ stream_id: wire.integer(), topic: wire.text(), ...unread })),
    huddles: wire.listOf(wire.fields({ user_ids_string: wire.text(), ...unread })),
    mentions: wire.listOf(wire.integer()),
    old_unreads_missing: wire.boolean(),
  }),
);

/** Events §3.2. */
export const recentConversation = wire.named(
  'RecentConversation',
  wire.fields({ user_ids: wire.listOf(wire.integer()), max_message_id: wire.integer() }),
);

/** In which form a client gets a message. */
export interface MessageForm extends PartForm {
  /** Instead of Markdown as it was typed. */
  readonly asHtml: boolean;
  /** The client works gravatars out by itself. */
  readonly clientGravatar: boolean;
  /** Whether the viewer may see the address that the sender signs in with. */
  readonly seesSenderEmail: boolean;
  /** For a guest who may not know who sent it. */
  readonly hidesSender?: boolean;
  /** What features show with it. */
  readonly parts: MessagePart;
}

/**
 * Messages §2, all but `flags`: the same for every viewer who gets this form. Without what a message that was just sent
 * cannot have, it is the `message` of the event.
 */
export function presentMessage(view: MessageView, publicRealm: PublicRealm, form: MessageForm) {
  const { message, sender, conversation } = view;
  const isChannel = conversation.kind === 'channel';
  return {
    id: message.id,
    ...presentSender(sender, publicRealm, form),
    client: message.clientName,
    content: form.asHtml ? message.renderedContent : message.content,
    content_type: form.asHtml ? 'text/html' : 'text/x-markdown',
    type: isChannel ? 'stream' : 'private',
    display_recipient: isChannel
      ? conversation.name
      : conversation.participants.map((person) => presentParticipant(person, publicRealm)),
    recipient_id: message.recipientId,
    ...(isChannel && { stream_id: conversation.channelId }),
    subject: isChannel ? presentTopic(message.topic, form.allowEmptyTopicName) : '',
    topic_links: message.topicLinks.map(({ text, url }) => ({ text, url })),
    timestamp: message.sentAt,
    is_me_message: message.isMeMessage,
    ...form.parts.present(view, form),
    ...(message.lastEditedAt !== null && { last_edit_timestamp: message.lastEditedAt }),
    ...(message.lastMovedAt !== null && { last_moved_timestamp: message.lastMovedAt }),
  };
}

/** The same as JSON text. */
export const messageText = (view: MessageView, publicRealm: PublicRealm, form: MessageForm): string =>
  JSON.stringify(presentMessage(view, publicRealm, form));

function presentSender(sender: UserSummary, publicRealm: PublicRealm, form: MessageForm) {
  const { hidesSender, clientGravatar, seesSenderEmail } = form;
  return {
    sender_id: sender.id,
    sender_full_name: hidesSender ? UNKNOWN_USER_NAME : sender.fullName,
    sender_email: shownAddress(sender, publicRealm, hidesSender),
    sender_realm_str: publicRealm.stringId,
    avatar_url: hidesSender
      ? unknownAvatarUrl(publicRealm)
      : avatarUrl(sender, publicRealm, {
          seesEmail: seesSenderEmail,
          clientGravatar: clientGravatar && isPublic(sender),
        }),
  };
}

/** Exactly these keys: strict clients refuse others. */
const presentParticipant = (person: UserSummary, publicRealm: PublicRealm) => ({
  id: person.id,
  email: shownAddress(person, publicRealm),
  full_name: person.fullName,
  is_mirror_dummy: false,
});

/** Whether the sender's picture is another one for those who may see their address. */
export const differsByViewer = (sender: UserSummary): boolean =>
  sender.avatar.source === 'gravatar' && !isPublic(sender);

const isPublic = ({ emailVisibility }: UserSummary): boolean => emailVisibility === 'everyone';

/** `isHidden`: from a guest who may not know them. */
export const shownAddress = (person: UserSummary, { emailDomain }: PublicRealm, isHidden = false): string =>
  isPublic(person) && !isHidden ? person.email : dummyAddress(person.id, emailDomain);

/** How much of a topic is moved, in the words of the API. */
export const PROPAGATE_MODES = {
  one: 'change_one',
  later: 'change_later',
  all: 'change_all',
} as const satisfies Record<MovePropagation, string>;

/** In the order clients get them (messages §4.1), the derived one last. */
const FLAGS = [
  ['read', 'read'],
  ['starred', 'starred'],
  ['collapsed', 'collapsed'],
  ['mentioned', 'mentioned'],
  ['channelWildcardMentioned', 'stream_wildcard_mentioned'],
  ['topicWildcardMentioned', 'topic_wildcard_mentioned'],
  ['hasAlertWord', 'has_alert_word'],
  ['historical', 'historical'],
] as const satisfies readonly (readonly [keyof PersonalFlags, string])[];

export function flagNames(flags: PersonalFlags): readonly string[] {
  const names: string[] = FLAGS.filter(([name]) => flags[name]).map(([, wireName]) => wireName);
  if (flags.channelWildcardMentioned || flags.topicWildcardMentioned) names.push('wildcard_mentioned');
  return names;
}

const flagTexts: string[] = [];

/** The same as JSON text. There are so few that each is put together once. */
export function flagsText(flags: PersonalFlags): string {
  const bits =
    (flags.read ? 1 : 0) |
    (flags.starred ? 2 : 0) |
    (flags.collapsed ? 4 : 0) |
    (flags.mentioned ? 8 : 0) |
    (flags.channelWildcardMentioned ? 16 : 0) |
    (flags.topicWildcardMentioned ? 32 : 0) |
    (flags.hasAlertWord ? 64 : 0) |
    (flags.historical ? 128 : 0);
  flagTexts[bits] ??= JSON.stringify(flagNames(flags));
  return flagTexts[bits];
}

/** Messages §7.6, without the braces around it. */
export const highlightText = ({ content, topic }: Highlighted): string =>
  `"match_content":${JSON.stringify(content)},"match_subject":${JSON.stringify(topic)}`;

/** Messages §3: the policy only where sending changed the sender's. */
export const presentSentMessage = ({ id, newVisibility }: SentMessage): WireFields => ({
  id,
  automatic_new_visibility_policy: newVisibility === null ? undefined : VISIBILITY_POLICIES[newVisibility],
});

/** Messages §6. */
export function presentGetMessage(
  { viewer, view, flags, realm, isSenderKnown }: GetMessageOutput,
  dto: { readonly apply_markdown: boolean; readonly allow_empty_topic_name: boolean },
  realmUrls: RealmUrls,
  { client, parts }: Pick<MessageForm, 'client' | 'parts'>,
): WireFields {
  const form: MessageForm = {
    asHtml: dto.apply_markdown,
    clientGravatar: true,
    allowEmptyTopicName: dto.allow_empty_topic_name,
    seesSenderEmail: seesEmailOf(viewer, view.sender),
    hidesSender: !isSenderKnown,
    client,
    editHistory: realm.settings.messageEditHistoryVisibilityPolicy,
    parts,
  };
  return {
    message: { ...presentMessage(view, publicRealmOf(realm, realmUrls), form), flags: flagNames(flags) },
    raw_content: view.message.content,
  };
}

/** The fields of messages §5.3 as JSON text, up to the messages themselves. */
export function presentMessagePage(page: Omit<MessagePage, 'entries'>): string {
  const anchor = page.anchor === null ? '' : `"anchor":${page.anchor},`;
  return (
    `${anchor}"found_newest":${page.foundNewest},"found_oldest":${page.foundOldest},` +
    // Nothing hides what is older.
    `"found_anchor":${page.foundAnchor},"history_limited":false,"messages":`
  );
}

/** Messages §13.1. */
export const presentIgnoredChannels = (channelIds: readonly ChannelId[]): WireFields => ({
  ignored_because_not_subscribed_channels: channelIds,
});

/** Messages §13.2. */
export const presentChangedNarrow = (output: ChangeNarrowFlagsOutput): WireFields => ({
  processed_count: output.processedCount,
  updated_count: output.updatedCount,
  first_processed_id: output.firstProcessedId,
  last_processed_id: output.lastProcessedId,
  found_oldest: output.foundOldest,
  found_newest: output.foundNewest,
  ...presentIgnoredChannels(output.ignoredChannelIds),
});

export const SUBMESSAGE_PART: MessagePart = {
  present: ({ submessages }) => ({ submessages: submessages.map(presentSubmessage) }),
};

const presentSubmessage = ({ id, messageId, senderId, kind, content }: Submessage) => ({
  id,
  message_id: messageId,
  sender_id: senderId,
  msg_type: kind,
  content,
});

/** Messages §18.6. */
export function presentSubmessageAdded(
  { submessage }: EventOf<'message.submessage_added'>,
  context: EventContext,
): Presented {
  return context.shared('', () => {
    const { id, ...fields } = presentSubmessage(submessage);
    return opened({ type: 'submessage', ...fields, submessage_id: id });
  });
}
