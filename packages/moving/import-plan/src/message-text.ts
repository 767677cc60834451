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
import { MAX_FILES } from './message-parts.js';
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
  /** Paths of the message's own files. Its readers can read only files with a link in the message itself. */
  readonly ownPaths: ReadonlySet<string>;
  /** Labels of files without bytes. */
  readonly missingFiles: readonly string[];
}

/**
 * Forms of a message, tried until all of its files have links: the whole text if it fits, its beginning with the files
 * after it, or only the files.
 */
export const TEXT_FORMS = ['whole', 'beginning', 'files'] as const;

/** Code points of a long message for its files, enough for `MAX_FILES` short lines. */
const MAX_FILE_LINES = 8500;
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

interface LongText {
  readonly markdown: string;
  /** Part to show, as far as it fits. */
  readonly beginning: string;
  readonly original: PlannedFile | null;
  /** True if the shown text `start` needs a link to this file after it. */
  isListed(path: string, start: string): boolean;
}

/** Writes the Markdown of one message. */
export class MessageTextWriter implements ReferenceTexts {
  private readonly users = new Map<UserId, PlannedUser>();
  private readonly mentionedGroups = new Map<string, PlannedGroup>();
  private readonly files = new Map<string, PlannedFile>();
  private readonly missingFiles: string[] = [];
  /** Paths of texts that the import wrote. */
  private readonly textPaths: string[] = [];

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
  write(record: MessageRecord, sender: PlannedUser, form: (typeof TEXT_FORMS)[number]): MessageText {
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
    const isWhole = form === 'whole' && !isTooLong(markdown);
    const beginning = form === 'files' ? '' : markdown;
    const isListed = (path: string, start: string) => form !== 'whole' || !start.includes(path);
    const text = isWhole ? markdown : this.withFileLines(record, sender, { markdown, beginning, original, isListed });
    const own = this.fileLines(record).flatMap(({ path }) => path ?? []);
    return this.done(text, [...own, ...this.textPaths]);
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

  /** Returns the text, or the beginning of a text that is too long, with links to the whole text and to its files. */
  private withFileLines(
    record: MessageRecord,
    sender: PlannedUser,
    { markdown, beginning, original, isListed }: LongText,
  ): string {
    const fileLines = this.fileLines(record);
    const room = fileLines.reduce((sum, line) => sum + line.room, 0);
    const lines: string[] = [];
    if (beginning !== markdown || isTooLong(markdown, room)) {
      const whole = this.textFile(record, sender, 'message', markdown);
      lines.push(this.linkToFile(whole, 'whole message'));
    }
    if (original) lines.push(this.linkToFile(original, 'original data'));
    const start = beginningOf(beginning, '', room);
    for (const { path, text } of fileLines) if (path === null || isListed(path, start)) lines.push(text);
    return beginningOf(beginning, lines.join('\n\n'), room);
  }

  /** Lists the files of a message, by their numbers if their names are too long. */
  private fileLines(record: MessageRecord): readonly FileLine[] {
    const references = new Map(fileReferences(record).map((each) => [each.id, each]));
    const lines = [...references.values()].slice(0, MAX_FILES).flatMap(({ id, label }) => {
      const file = this.sources.files.find(id);
      return file ? [this.fileLine(file, label ?? file.name)] : [];
    });
    if (lines.reduce((sum, { room }) => sum + room, 0) <= MAX_FILE_LINES) return lines;
    return lines.flatMap(({ path }, index) => {
      if (path === null) return [];
      const text = linkTo(String(index + 1), urlOf(path));
      return [{ path, text, room: text.length + 2 }];
    });
  }

  private fileLine(file: PlannedFile, shown: string): FileLine {
    const { pathId: path } = file;
    const text = path === null ? literal(`${shown} (${file.missing})`) : this.linkToFile(file, shown);
    // The link that replaces a note later is longer.
    return { path, text, room: text.length + (path === null ? LINK_LENGTH + file.name.length : 0) + 2 };
  }

  private textFile({ id, sentAt }: MessageRecord, sender: PlannedUser, what: 'message' | 'original', text: string) {
    const name = what === 'message' ? 'message.md' : 'original.json';
    const file = this.sources.files.addText(`${what} ${id}`, name, text, sender.id, sentAt);
    this.textPaths.push(file.pathId!);
    return file;
  }

  private linkToFile(file: PlannedFile, label: string): string {
    this.files.set(file.pathId!, file);
    return linkTo(label, urlOf(file.pathId!));
  }

  /** PostgreSQL stores no null characters. */
  private done(text: string, ownPaths: readonly string[] = []): MessageText {
    const markdown = trimEnd(text.replaceAll('\0', '')).replace(/^\n+/, '') || '*(no text)*';
    const { users, mentionedGroups: groups, files, missingFiles } = this;
    return { markdown, users, groups, files, missingFiles, ownPaths: new Set(ownPaths) };
  }
}

const urlOf = (pathId: string): string => `/user_uploads/${pathId}`;
