import { type MessageId, trimEnd, type UserId } from '@parley/domain/kernel';
import { silentMention } from '@parley/domain/markdown';
import { channelUrl, messageUrl, topicUrl } from '@parley/domain/messages';
import {
  beginningOf,
  fileReferences,
  firstWords,
  type ImportedContent,
  isTooLong,
  linkTo,
  literal,
  type MessageRecord,
  markdownOf,
  type ReferenceTexts,
} from '@parley/transfer/records';
import type { PlannedFile, PlannedFiles } from './plan-files.js';
import { type PlannedMessage, plannedMessage } from './plan-messages.js';
import type { PlannedPeople, PlannedUser } from './plan-people.js';
import { type PlannedGroup, type PlannedPlaces, placeKey } from './plan-places.js';
import type { Staging } from './staging.js';

export interface TextSources {
  readonly staging: Staging;
  readonly people: PlannedPeople;
  readonly places: PlannedPlaces;
  readonly groups: ReadonlyMap<string, PlannedGroup>;
  readonly files: PlannedFiles;
}

/** Markdown of a message with the objects that it refers to. */
export interface MessageText {
  readonly markdown: string;
  readonly users: ReadonlyMap<UserId, PlannedUser>;
  readonly groups: ReadonlyMap<string, PlannedGroup>;
  /** Keyed by path. */
  readonly files: ReadonlyMap<string, PlannedFile>;
  /** Labels of files without bytes. */
  readonly missingFiles: readonly string[];
}

/** Code points of a long message for its files. */
const MAX_FILE_LINES = 8000;
/** Length of a link to a file without its names. */
const LINK_LENGTH = 100;

/** Line about a file at the end of a long message. */
interface FileLine {
  /** Null if the bytes are missing. */
  readonly path: string | null;
  readonly text: string;
  /** Code points that the line may need. */
  readonly room: number;
}

/** Writes the Markdown of one message. */
export class MessageTextWriter implements ReferenceTexts {
  private readonly users = new Map<UserId, PlannedUser>();
  private readonly mentionedGroups = new Map<string, PlannedGroup>();
  private readonly files = new Map<string, PlannedFile>();
  private readonly missingFiles: string[] = [];

  constructor(
    private readonly sources: TextSources,
    /** Channel or conversation of the message; texts of others may be private. */
    private readonly place: string,
  ) {}

  person(id: string): string | null {
    const user = this.sources.people.find(id);
    if (!user) return null;
    this.users.set(user.id, user);
    return silentMention(user);
  }

  group(id: string): string | null {
    const group = this.sources.groups.get(id);
    if (!group) return null;
    this.mentionedGroups.set(group.name, group);
    return `@_*${group.name}*`;
  }

  channel(id: string, label: string | undefined): string | null {
    const channel = this.sources.places.findChannel(id);
    if (!channel) return null;
    // The names of private channels are secret outside of them.
    const isSecret = channel.record.privacy === 'private' && this.place !== placeKey({ channel: id });
    const name = isSecret ? 'private channel' : channel.name;
    return linkTo(label ?? `#${name}`, channelUrl({ id: channel.id, name }));
  }

  message(id: string, label: string | undefined): string | null {
    const target = plannedMessage(this.sources.staging, id);
    const path = target && this.pathOf(target);
    return path && linkTo(label ?? 'message', path);
  }

  file(id: string, label: string | undefined): string | null {
    const file = this.sources.files.find(id);
    if (!file) return null;
    const shown = label ?? file.name;
    if (file.pathId !== null) return this.linkToFile(file, shown);
    this.missingFiles.push(shown);
    return literal(`${shown} (${file.missing})`);
  }

  /** Writes the text of a message of the source, with everything that is attached to it. */
  write(record: MessageRecord, sender: PlannedUser): MessageText {
    const { senderName, replyTo, content, files = [], unsupported = [] } = record;
    const isOtherName = senderName !== undefined && senderName !== sender.fullName && senderName.trim() !== '';
    const inThread = record.conversation !== undefined && record.thread !== record.id ? record.thread : undefined;
    const original =
      unsupported.length === 0 ? null : this.textFile(record, sender, 'original', JSON.stringify(unsupported, null, 1));
    const parts = [
      isOtherName ? `**${literal(senderName)}**` : '',
      this.quote(replyTo ?? inThread),
      markdownOf(content, this),
      ...files.map((id) => this.file(id, undefined) ?? literal('file (missing)')),
      original ? this.linkToFile(original, 'original data') : '',
    ];
    const markdown = parts.filter((part) => part.trim() !== '').join('\n\n');
    return this.done(this.fitting(record, sender, markdown, original));
  }

  /** Writes an earlier text of a message. */
  writeEarlier(content: ImportedContent): MessageText {
    const markdown = markdownOf(content, this);
    return this.done(isTooLong(markdown) ? beginningOf(markdown, '…') : markdown);
  }

  /** Writes a line that leads to a message in a topic. */
  writePointer(record: MessageRecord): MessageText {
    const target = plannedMessage(this.sources.staging, record.id);
    const path = target && this.pathOf(target);
    return this.done(`${this.person(record.sender)} → ${linkTo(target?.topic ?? '', path ?? '')}`);
  }

  /** Writes a line that leads to an earlier message of another topic. */
  writeQuote({ id }: MessageRecord): MessageText {
    return this.done(this.quote(id));
  }

  writePins(records: readonly MessageRecord[]): MessageText {
    const lines = records.map((record) => {
      const words = firstWords(markdownOf(record.content, this)) || 'message';
      return `* ${this.person(record.sender)}: ${this.message(record.id, words)}`;
    });
    const markdown = lines.join('\n');
    return this.done(isTooLong(markdown) ? beginningOf(markdown, '…') : markdown);
  }

  private quote(id: string | undefined): string {
    const target = id === undefined ? null : plannedMessage(this.sources.staging, id);
    if (!target || target.place !== this.place) return '';
    const { record } = this.sources.staging.find('message', id!)!;
    const path = this.pathOf(target);
    const wrote = path === null ? 'wrote' : linkTo('wrote', path);
    return `${this.person(record.sender)} ${wrote}:\n> ${literal(firstWords(markdownOf(record.content, this)) || '…')}`;
  }

  /** Returns null for direct messages, since their paths contain the ids of people. */
  private pathOf({ place, topic, number }: PlannedMessage): string | null {
    const channel = this.sources.places.find(place);
    if (channel?.kind !== 'channel') return null;
    const url = place === this.place ? topicUrl(channel, topic) : channelUrl({ id: channel.id, name: '' });
    return messageUrl(url, number as MessageId);
  }

  private fitting(record: MessageRecord, sender: PlannedUser, markdown: string, original: PlannedFile | null): string {
    if (!isTooLong(markdown)) return markdown;
    const whole = this.textFile(record, sender, 'message', markdown);
    const lines = [this.linkToFile(whole, 'whole message')];
    if (original) lines.push(this.linkToFile(original, 'original data'));
    const fileLines = this.fileLines(record);
    const room = fileLines.reduce((sum, { room }) => sum + room, 0);
    const start = beginningOf(markdown, '', room);
    for (const { path, text } of fileLines) if (path === null || !start.includes(path)) lines.push(text);
    return beginningOf(markdown, lines.join('\n\n'), room);
  }

  /** Lists the files of a message. Its readers can read only files with a link in the message itself. */
  private fileLines(record: MessageRecord): readonly FileLine[] {
    const references = new Map(fileReferences(record).map((each) => [each.id, each]));
    const lines: FileLine[] = [];
    let left = MAX_FILE_LINES;
    for (const { id, label } of references.values()) {
      const file = this.sources.files.find(id);
      if (!file) continue;
      const shown = label ?? file.name;
      const path = file.pathId && `/user_uploads/${file.pathId}`;
      const text = path === null ? literal(`${shown} (${file.missing})`) : this.linkToFile(file, shown);
      // The link that replaces a note later is longer.
      const room = text.length + (path === null ? LINK_LENGTH + file.name.length : 0) + 2;
      if (room > left) {
        lines.push({ path: null, text: `${references.size - lines.length} more files`, room: 0 });
        break;
      }
      left -= room;
      lines.push({ path, text, room });
    }
    return lines;
  }

  private textFile({ id, sentAt }: MessageRecord, sender: PlannedUser, what: 'message' | 'original', text: string) {
    const name = what === 'message' ? 'message.md' : 'original.json';
    return this.sources.files.addText(`${what} ${id}`, name, text, sender.id, sentAt);
  }

  private linkToFile(file: PlannedFile, label: string): string {
    this.files.set(file.pathId!, file);
    return linkTo(label, `/user_uploads/${file.pathId}`);
  }

  /** PostgreSQL stores no null characters. */
  private done(text: string): MessageText {
    const markdown = trimEnd(text.replaceAll('\0', '')).replace(/^\n+/, '') || '*(no text)*';
    const { users, mentionedGroups: groups, files, missingFiles } = this;
    return { markdown, users, groups, files, missingFiles };
  }
}
