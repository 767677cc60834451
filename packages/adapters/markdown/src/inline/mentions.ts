import type { GroupId, UserId } from '@parley/domain/kernel';
import { FURTHER_HAN, type LinkableChannel, UNSPACED } from '@parley/domain/markdown';
import { channelUrl, messageUrl, topicUrl } from '@parley/domain/messages';
import { SPACE, withOne } from '../characters.js';
import { Element } from '../html/html.js';
import type { InlineContext, InlineRule } from './rule.js';

/** Allowed characters before a mention or channel link, besides the start of the text. */
export const BOUNDARY = `(?<![^${SPACE}'"({\\[/<${UNSPACED}](?<!${FURTHER_HAN}))`;

const USER = new RegExp(`${BOUNDARY}@(?<silent>_?)\\*\\*(?<name>[^*]+)\\*\\*`, 'g');
const GROUP = new RegExp(`${BOUNDARY}@(?<silent>_?)\\*(?<name>[^*]+)\\*`, 'g');
const WITH_ID = /^(?<fullName>[^\n]+)?\|(?<id>\d+)$/;

const CHANNEL_WILDCARDS = new Set(['all', 'everyone', 'channel', 'stream']);
const TOPIC_WILDCARD = 'topic';

export const userMentions: InlineRule = (text, context) => {
  if (!text.includes('@')) return text;
  return text.replace(USER, (typed, mark: string, name: string) => {
    const isSilent = mark === '_';
    const mention = wildcardMention(name, isSilent, context) ?? userMention(name, isSilent, context);
    return mention ? context.stash(mention) : typed;
  });
};

export const groupMentions: InlineRule = (text, context) => {
  if (!text.includes('@')) return text;
  const { outcome } = context;
  return text.replace(GROUP, (typed, mark: string, name: string) => {
    const group = context.names.groupByName(name);
    if (!group) return typed;
    const isSilent = mark === '_' || !group.isActive;
    if (!isSilent) outcome.mentionedGroupIds = withOne(outcome.mentionedGroupIds, group.id as GroupId);
    const attributes = { 'data-user-group-id': String(group.id) };
    return context.stash(mentionElement('user-group-mention', group.displayName, isSilent, attributes));
  });
};

/** Silences mentions, because a quote must not notify anyone. */
export function silenceMentions(line: string): string {
  return line
    .replace(USER, (_, _mark, name: string) => `@_**${name}**`)
    .replace(GROUP, (_, _mark, name: string) => `@_*${name}*`);
}

/** Parses a mention by id: `Ann Example|31` or just `|31`. */
export function parseIdMention(name: string): { fullName: string | undefined; id: UserId } | null {
  const groups = WITH_ID.exec(name)?.groups;
  if (!groups) return null;
  return { fullName: groups.fullName, id: Number(groups.id) as UserId };
}

function wildcardMention(name: string, isSilent: boolean, { outcome }: InlineContext): Element | null {
  if (CHANNEL_WILDCARDS.has(name)) {
    if (!isSilent) outcome.mentionsChannelWildcard = true;
    return mentionElement('user-mention channel-wildcard-mention', name, isSilent, { 'data-user-id': '*' });
  }
  if (name === TOPIC_WILDCARD) {
    if (!isSilent) outcome.mentionsTopicWildcard = true;
    return mentionElement('topic-mention', name, isSilent, {});
  }
  return null;
}

function userMention(name: string, isAskedSilent: boolean, { names, outcome }: InlineContext): Element | null {
  const byId = parseIdMention(name);
  const user = byId ? names.userById(byId.id) : names.userByName(name);
  if (!user || (byId?.fullName !== undefined && byId.fullName !== user.fullName)) return null;
  const isSilent = isAskedSilent || !user.isActive;
  if (!isSilent) outcome.mentionedUserIds = withOne(outcome.mentionedUserIds, user.id);
  return mentionElement('user-mention', user.fullName, isSilent, { 'data-user-id': String(user.id) });
}

function mentionElement(
  className: string,
  name: string,
  isSilent: boolean,
  attributes: Readonly<Record<string, string>>,
): Element {
  const element = new Element('span', { ...attributes, class: isSilent ? `${className} silent` : className });
  element.text = isSilent ? name : `@${name}`;
  element.isTextFinal = true;
  return element;
}

const MESSAGE = new RegExp(`${BOUNDARY}#\\*\\*(?<channel>[^*>]+)>(?<topic>[^*]*)@(?<message>\\d+)\\*\\*`, 'g');
const TOPIC = new RegExp(`${BOUNDARY}#\\*\\*(?<channel>[^*>]+)>(?<topic>[^*]*)\\*\\*`, 'g');
const CHANNEL = new RegExp(`${BOUNDARY}#\\*\\*(?<channel>[^*]+)\\*\\*`, 'g');

/** Links to messages, topics and channels; references to channels that the author cannot read stay text. */
export const channelLinks: InlineRule = (text, context) => {
  if (!text.includes('#**')) return text;
  const { names, stash } = context;
  return text
    .replace(MESSAGE, (typed, name: string, topic: string, messageId: string) => {
      const channel = names.channelByName(name);
      if (!channel) return typed;
      const href = messageUrl(topicUrl(channel, topic), messageId);
      return stash(topicLink('message-link', channel, topic, { href }, ' @ 💬', context));
    })
    .replace(TOPIC, (typed, name: string, topic: string) => {
      const channel = names.channelByName(name);
      if (!channel) return typed;
      const newest = channel.newestMessageIds.get(topic);
      const href = topicUrl(channel, topic) + (newest === undefined ? '' : `/with/${newest}`);
      return stash(
        topicLink('stream-topic', channel, topic, { 'data-stream-id': String(channel.id), href }, '', context),
      );
    })
    .replace(CHANNEL, (typed, name: string) => {
      const channel = names.channelByName(name);
      if (!channel) return typed;
      const link = new Element('a', {
        class: 'stream',
        'data-stream-id': String(channel.id),
        href: channelUrl(channel),
      });
      link.text = `#${channel.name}`;
      link.isTextFinal = true;
      return stash(link);
    });
};

function topicLink(
  className: string,
  channel: LinkableChannel,
  topic: string,
  attributes: Readonly<Record<string, string>>,
  suffix: string,
  { options }: InlineContext,
): Element {
  const link = new Element('a', { ...attributes, class: className });
  link.isTextFinal = true;
  if (topic !== '') {
    link.text = `#${channel.name} > ${topic}${suffix}`;
    return link;
  }
  link.text = `#${channel.name} > `;
  const name = link.append('em');
  name.text = options.emptyTopicName;
  name.isTextFinal = true;
  name.tail = suffix;
  name.isTailFinal = true;
  return link;
}
