import type { ChannelId, EventOf, RealmUrls } from '@parley/domain/kernel';
import type {
  ChangeNarrowFlagsOutput,
  GetMessageOutput,
  Highlighted,
  MessageList,
  MessageView,
  MovePropagation,
  PersonalFlags,
  Submessage,
  UserSummary,
} from '@parley/domain/messages';
import { dummyAddress, seesEmailOf } from '@parley/domain/users';
import type { SentMessage } from '@parley/domain/writing';
import { presentTopic, VISIBILITY_POLICIES } from '../channels/channel.presenters.js';
import {
  type EventContext,
  type MessagePart,
  opened,
  type PartForm,
  type Presented,
} from '../delivery/event-presenter.js';
import { type PublicRealm, publicRealmOf } from '../delivery/public-realm.js';
import { EMOJI_FIELDS } from '../files/emoji.js';
import { avatarUrl, unknownAvatarUrl } from '../users/avatar-urls.js';
import { UNKNOWN_USER_NAME } from '../users/user.presenters.js';
import type { WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

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

/** Fields shared by edits and history entries; present for a move or a text change. */
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

/** Extensions §14. */
export const APPLICATION_DATA = { data: wire.dictionaryOf(wire.anything()), version: wire.integer() };

/** Messages §2. */
const MESSAGE = {
  id: wire.integer(),
  sender_id: wire.integer(),
  sender_full_name: wire.text(),
  sender_email: wire.text(),
  sender_realm_str: wire.text(),
  /** Only for senders with an external id; never null. */
  sender_external_id: wire.optional(wire.text()),
  avatar_url: wire.nullable(wire.text()),
  client: wire.text(),
  content: wire.text(),
  content_type: wire.oneOf('text/html', 'text/x-markdown'),
  type: wire.oneOf('stream', 'private'),
  display_recipient: wire.named('DisplayRecipient', wire.anyOf(wire.text(), wire.listOf(participant))),
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
  /** Present for clients that request it (extensions §14). */
  application_data: wire.optional(wire.fields(APPLICATION_DATA)),
  flags,
};

const message = wire.named('Message', wire.fields(MESSAGE));

const { flags: _, ...RECEIVED } = MESSAGE;

/** Message in events, where flags are a separate field. */
export const receivedMessage = wire.named('ReceivedMessage', wire.fields(RECEIVED));

const HIGHLIGHT = { match_content: wire.text(), match_subject: wire.text() };

/** Messages §5.3. */
export const MESSAGE_PAGE = wire.fields({
  anchor: wire.optional(wire.integer()),
  found_newest: wire.boolean(),
  found_oldest: wire.boolean(),
  found_anchor: wire.boolean(),
  history_limited: wire.boolean(),
  search_incomplete: wire.optional(wire.boolean()),
  search_proposal: wire.optional(wire.text()),
  ranking: wire.optional(wire.listOf(wire.integer())),
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

/** Presentation options of a client and viewer. */
export interface MessageForm extends PartForm {
  /** True for HTML, false for raw Markdown. */
  readonly asHtml: boolean;
  /** True if the client computes gravatar URLs itself. */
  readonly clientGravatar: boolean;
  /** True if the viewer may see the sender's log-in address. */
  readonly seesSenderEmail: boolean;
  /** True if the viewer is a guest without access to the sender. */
  readonly hidesSender?: boolean;
  /** False for spectators, and for events to clients that reject unknown keys. */
  readonly withExternalIds: boolean;
  /** True to include data of the application; default: false. */
  readonly withData?: boolean;
  /** Fields that features add to the message. */
  readonly parts: MessagePart;
}

/**
 * Presents messages §2 except `flags`, which is the same for all viewers of this form. A newly sent message has
 * exactly the event's `message` fields.
 */
export function presentMessage(view: MessageView, publicRealm: PublicRealm, form: MessageForm) {
  const { message, sender, conversation, hostData } = view;
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
    ...(form.withData && hostData && { application_data: { data: hostData.data, version: hostData.version } }),
  };
}

/** Presents a message as JSON text. */
export const messageText = (view: MessageView, publicRealm: PublicRealm, form: MessageForm): string =>
  JSON.stringify(presentMessage(view, publicRealm, form));

function presentSender(sender: UserSummary, publicRealm: PublicRealm, form: MessageForm) {
  const { hidesSender, clientGravatar, seesSenderEmail } = form;
  const { externalId } = sender;
  return {
    sender_id: sender.id,
    sender_full_name: hidesSender ? UNKNOWN_USER_NAME : sender.fullName,
    sender_email: shownAddress(sender, publicRealm, hidesSender),
    ...(form.withExternalIds && !hidesSender && externalId !== undefined && { sender_external_id: externalId }),
    sender_realm_str: publicRealm.stringId,
    avatar_url: hidesSender
      ? unknownAvatarUrl(publicRealm)
      : avatarUrl(sender, publicRealm, {
          seesEmail: seesSenderEmail,
          clientGravatar: clientGravatar && isPublic(sender),
        }),
  };
}

/** Presents exactly these keys, because strict clients reject others. */
const presentParticipant = (person: UserSummary, publicRealm: PublicRealm) => ({
  id: person.id,
  email: shownAddress(person, publicRealm),
  full_name: person.fullName,
  is_mirror_dummy: false,
});

/** True if viewers who may see the sender's address get a different avatar. */
export const differsByViewer = (sender: UserSummary): boolean =>
  sender.avatar.source === 'gravatar' && !isPublic(sender);

const isPublic = ({ emailVisibility }: UserSummary): boolean => emailVisibility === 'everyone';

/** @param isHidden true for a guest without access to this user */
export const shownAddress = (person: UserSummary, { emailDomain }: PublicRealm, isHidden = false): string =>
  isPublic(person) && !isHidden ? person.email : dummyAddress(person.id, emailDomain);

/** Wire values for the scope of a topic move. */
export const PROPAGATE_MODES = {
  one: 'change_one',
  later: 'change_later',
  all: 'change_all',
} as const satisfies Record<MovePropagation, string>;

/** Flags in wire order (messages §4.1), the derived flag last. */
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

/** Returns cached JSON text; only a few combinations exist. */
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

/** Highlight fields without braces (messages §7.6). */
export const highlightText = ({ content, topic }: Highlighted): string =>
  `"match_content":${JSON.stringify(content)},"match_subject":${JSON.stringify(topic)}`;

/** Presents a sent message (messages §3). The policy is present only if sending changed it. */
export const presentSentMessage = ({ id, newVisibility }: SentMessage): WireFields => ({
  id,
  automatic_new_visibility_policy: newVisibility === null ? undefined : VISIBILITY_POLICIES[newVisibility],
});

/** Messages §6. */
export function presentGetMessage(
  { viewer, view, flags, realm, isSenderVisible }: GetMessageOutput,
  dto: { readonly apply_markdown: boolean; readonly allow_empty_topic_name: boolean },
  realmUrls: RealmUrls,
  shown: Pick<MessageForm, 'client' | 'parts' | 'withExternalIds'> & Partial<Pick<MessageForm, 'editHistory'>>,
): WireFields {
  const form: MessageForm = {
    asHtml: dto.apply_markdown,
    clientGravatar: true,
    allowEmptyTopicName: dto.allow_empty_topic_name,
    seesSenderEmail: seesEmailOf(viewer, view.sender),
    hidesSender: !isSenderVisible,
    editHistory: realm.settings.messageEditHistoryVisibilityPolicy,
    ...shown,
  };
  return {
    message: { ...presentMessage(view, publicRealmOf(realm, realmUrls), form), flags: flagNames(flags) },
    raw_content: view.message.content,
  };
}

/** Returns the page fields of messages §5.3 as JSON text, up to the messages. */
export function presentMessagePage(page: Omit<MessageList, 'entries'>): string {
  const anchor = page.anchor === null ? '' : `"anchor":${page.anchor},`;
  return (
    `${anchor}"found_newest":${page.foundNewest},"found_oldest":${page.foundOldest},` +
    // False, because no older message is withheld.
    `"found_anchor":${page.foundAnchor},"history_limited":false,` +
    `${page.isSearchIncomplete ? '"search_incomplete":true,' : ''}` +
    `${page.proposal === null ? '' : `"search_proposal":${JSON.stringify(page.proposal)},`}` +
    `${page.ranking === null ? '' : `"ranking":${JSON.stringify(page.ranking)},`}"messages":`
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
