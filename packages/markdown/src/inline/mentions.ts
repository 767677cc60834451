import type { GroupId, UserId } from '@parley/domain/kernel';
import { SPACE } from '../characters.js';
import { Element } from '../html/element.js';
import { withOne } from '../sets.js';
import type { InlineContext, InlineRule } from './rule.js';

/** What may stand before a mention or a link to a channel, beside the start of the text. */
export const BOUNDARY = `(?<![^${SPACE}'"({\\[/<])`;

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

/** In a quote nobody is called. */
export function silenceMentions(line: string): string {
  return line
    .replace(USER, (_, _mark, name: string) => `@_**${name}**`)
    .replace(GROUP, (_, _mark, name: string) => `@_*${name}*`);
}

/** A mention by number: `Ann Example|31`, or just `|31`. */
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
