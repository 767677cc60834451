import type { UserId } from '@parley/domain/kernel';
import type { MarkdownReferences, TopicReference } from '@parley/domain/markdown';
import { noneOf, WORD, withOne } from './characters.js';
import type { Element } from './html/html.js';
import { parseIdMention } from './inline/mentions.js';

const USER = /@_?\*\*(?=([^*]+)\*\*)/g;
const GROUP = /@_?\*(?=([^*]+)\*)/g;
const CHANNEL = /#\*\*(?=([^*]+)\*\*)/g;
const EMOJI = new RegExp(`:(?=([${WORD}\\-+]+):)`, 'gu');

/** Names in a block tree. May include names inside code, which is not yet distinguished from text. */
export class References implements MarkdownReferences {
  userNames = noneOf<string>();
  userIds = noneOf<UserId>();
  groupNames = noneOf<string>();
  channelNames = noneOf<string>();
  readonly topics: TopicReference[] = [];
  emojiNames = noneOf<string>();
  uploadPaths = noneOf<string>();

  get isEmpty(): boolean {
    return (
      this.userNames.size === 0 &&
      this.userIds.size === 0 &&
      this.groupNames.size === 0 &&
      this.channelNames.size === 0 &&
      this.emojiNames.size === 0 &&
      this.uploadPaths.size === 0
    );
  }

  collect(element: Element): void {
    if (!element.isTextFinal) this.collectFrom(element.text);
    this.collectFrom(element.tail);
    for (const child of element.children) this.collect(child);
  }

  private collectFrom(text: string): void {
    if (text.includes('@')) {
      for (const match of text.matchAll(USER)) this.addUser(match[1]!);
      for (const match of text.matchAll(GROUP)) this.groupNames = withOne(this.groupNames, match[1]!);
    }
    if (text.includes('#**')) for (const match of text.matchAll(CHANNEL)) this.addChannel(match[1]!);
    if (text.includes(':'))
      for (const match of text.matchAll(EMOJI)) this.emojiNames = withOne(this.emojiNames, match[1]!);
  }

  private addUser(name: string): void {
    const byId = parseIdMention(name);
    if (!byId) this.userNames = withOne(this.userNames, name);
    else if (Number.isSafeInteger(byId.id)) this.userIds = withOne(this.userIds, byId.id);
  }

  private addChannel(name: string): void {
    if (this.channelNames.has(name)) return;
    this.channelNames = withOne(this.channelNames, name);
    const separator = name.indexOf('>');
    if (separator === -1) return;
    const channelName = name.slice(0, separator);
    this.channelNames = withOne(this.channelNames, channelName);
    this.topics.push({ channelName, topic: name.slice(separator + 1) });
  }
}
