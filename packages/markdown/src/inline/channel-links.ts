import type { LinkableChannel } from '@parley/domain/markdown';
import { channelUrl, messageUrl, topicUrl } from '@parley/domain/messages';
import { Element } from '../html/element.js';
import { BOUNDARY } from './mentions.js';
import type { InlineContext, InlineRule } from './rule.js';

const MESSAGE = new RegExp(`${BOUNDARY}#\\*\\*(?<channel>[^*>]+)>(?<topic>[^*]*)@(?<message>\\d+)\\*\\*`, 'g');
const TOPIC = new RegExp(`${BOUNDARY}#\\*\\*(?<channel>[^*>]+)>(?<topic>[^*]*)\\*\\*`, 'g');
const CHANNEL = new RegExp(`${BOUNDARY}#\\*\\*(?<channel>[^*]+)\\*\\*`, 'g');

/** Links to a message, to a topic and to a channel; what names no channel the author can read stays text. */
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
