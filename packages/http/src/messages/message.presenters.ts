import type { ChannelId, RealmUrls } from '@parley/domain/kernel';
import type {
  ChangeNarrowFlagsOutput,
  GetMessageOutput,
  Highlighted,
  MessagePage,
  MessageView,
  MovePropagation,
  PersonalFlags,
  SentMessage,
  UserSummary,
} from '@parley/domain/messages';
import { dummyAddress, seesEmailOf } from '@parley/domain/users';
import { presentTopic, VISIBILITY_POLICIES } from '../channels/channel.presenters.js';
import type { WireFields } from '../kernel/reply.js';
import { type PublicRealm, publicRealmOf } from '../realms/public-realm.js';
import { avatarUrl, unknownAvatarUrl } from '../users/avatar-urls.js';
import { UNKNOWN_USER_NAME } from '../users/user.presenters.js';
import type { MessagePart, PartForm } from './message-parts.js';

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
