import { emojiPath } from '@parley/domain/files';
import { DomainError, escapeHtml, type MessageId, type UserId } from '@parley/domain/kernel';
import {
  type MarkdownOptions,
  type MarkdownRenderer,
  NOTHING_NAMED,
  type RenderedMarkdown,
  type ResolvedNames,
} from '@parley/domain/markdown';
import { HISTORICAL, MAX_EDITS, type MessageEdit, type PersonalFlags } from '@parley/domain/messages';
import type { Reaction } from '@parley/domain/writing';
import type { HolderCopy, MessageCopy } from '@parley/transfer/exports';
import type { MessageRecord } from '@parley/transfer/records';
import { digestOf, messageDigest } from './digest.js';
import { keepFileLinks } from './late-files.js';
import { type MessageText, MessageTextWriter, TEXT_FORMS, type TextSources } from './message-text.js';
import { planReactions, type ReactionEmoji, type ReadPositions } from './plan-details.js';
import { PLANNED_REALM_ID } from './plan-files.js';
import type { PlannedMessage } from './plan-messages.js';
import type { PlannedUser } from './plan-people.js';
import { CHANNEL_KEY_START, isLiving, type PlannedEmoji, type PlannedPlace } from './plan-places.js';
import type { MessageChanges, MessageKey } from './staging.js';

export interface CopySources extends TextSources {
  readonly emoji: ReadonlyMap<string, PlannedEmoji>;
  readonly reactions: ReactionEmoji;
  readonly readPositions: ReadPositions;
  readonly renderer: MarkdownRenderer;
  readonly options: MarkdownOptions;
  /** Sender of lines that the import adds. */
  readonly noticeSender: UserId;
}

const MESSAGES_AT_A_TIME = 500;
/** Client shown as the origin of messages. */
const CLIENT_NAME = 'Import';
const READ: PersonalFlags = { ...HISTORICAL, historical: false };

/** Planned message with its record as JSON. */
type StoredMessage = PlannedMessage &
  ({ readonly record: number; readonly json: string } | { readonly record: null; readonly json: null });

type ImportedMessage = MessageCopy['message'];

interface ShownText {
  readonly text: MessageText;
  readonly rendered: RenderedMarkdown;
  /** True for plain text, because the Markdown cannot be rendered. */
  readonly isPlain: boolean;
}

/** Message as shown in the report. */
export interface MessageSample {
  readonly channel: string;
  readonly topic: string;
  readonly senderId: UserId;
  readonly sentAt: number;
  readonly html: string;
  /** Names of emoji. */
  readonly reactions: readonly string[];
}

const MAX_SAMPLES = 50;
/** Maximum number of messages in a sample. */
const SAMPLE_LENGTH = 20;
/** Number of messages that a sample is chosen from. */
const SAMPLED_RANGE = 200;

/** Number of messages with Markdown that could not be rendered. */
export interface CopyCounts {
  unrenderable: number;
}

/** Writes and renders the planned messages. */
export class MessageCopies {
  readonly counts: CopyCounts = { unrenderable: 0 };
  private readonly customEmoji: ReadonlyMap<string, string>;

  constructor(private readonly sources: CopySources) {
    this.customEmoji = new Map(
      [...sources.emoji.values()].map(({ id, name, format }) => [
        name,
        emojiPath({ realmId: PLANNED_REALM_ID, id, format }),
      ]),
    );
  }

  /** Reads all new messages by ascending id, in batches. */
  read(): AsyncGenerator<readonly MessageCopy[]> {
    return this.readAfter(this.sources.staging.lastKnown, 'planned');
  }

  /** Reads messages of earlier imports that changed. */
  readChanged(): AsyncGenerator<readonly MessageCopy[]> {
    return this.readAfter(0, 'changed JOIN planned ON planned.number = changed.number');
  }

  private async *readAfter(after: number, from: string): AsyncGenerator<readonly MessageCopy[]> {
    const sql = `SELECT planned.*, records.json FROM ${from} LEFT JOIN records ON records.number = planned.record
      WHERE planned.number > ? ORDER BY planned.number LIMIT ?`;
    const query = { sql, after, keyOf: ({ number }: StoredMessage) => number, limit: MESSAGES_AT_A_TIME };
    for (const page of this.sources.staging.pages(query)) {
      const copies: MessageCopy[] = [];
      for (const planned of page) copies.push(await this.copyOf(planned));
      yield copies;
    }
  }

  /** Renders samples of public channels at regular intervals of message ids, for the report. */
  async *samples(from: number, to: number): AsyncGenerator<readonly MessageSample[]> {
    const step = Math.max(SAMPLED_RANGE, Math.ceil((to - from + 1) / MAX_SAMPLES));
    for (let first = from; first <= to; first += step) {
      const range = this.sources.staging.all<StoredMessage>(
        `SELECT planned.*, records.json FROM planned LEFT JOIN records ON records.number = planned.record
         WHERE planned.number >= ? ORDER BY planned.number LIMIT ?`,
        first,
        SAMPLED_RANGE,
      );
      const isPublic = ({ place }: StoredMessage) => this.publicChannel(place) !== null;
      const samples: MessageSample[] = [];
      for (const planned of range.filter(isPublic).slice(0, SAMPLE_LENGTH)) {
        const { message, reactions } = await this.copyOf(planned);
        samples.push({
          channel: this.publicChannel(planned.place)!,
          topic: message.topic,
          senderId: message.senderId,
          sentAt: message.sentAt,
          html: message.renderedContent ?? '',
          reactions: reactions.map(({ name }) => name),
        });
      }
      if (samples.length > 0) yield samples;
    }
  }

  private publicChannel(key: string): string | null {
    const place = this.sources.places.find(key);
    return place?.kind === 'channel' && place.record.privacy === 'public' ? place.name : null;
  }

  private async copyOf(planned: StoredMessage): Promise<MessageCopy> {
    const place = this.sources.places.find(planned.place)!;
    const writer = new MessageTextWriter(this.sources, planned.place);
    if (planned.record === null) {
      const pinned = this.pinnedIn(planned.place);
      const text = writer.writePins(pinned);
      const message = this.messageOf(planned, place, this.sources.noticeSender, await this.render(text));
      const recordId = planned.place.slice(CHANNEL_KEY_START.length);
      return {
        ...this.withoutDetails(message),
        origin: { kind: planned.role, recordId, hash: digestOf(text.markdown) },
        pins: pinned.map(({ id }) => ({ kind: 'pin', recordId: id, hash: '' })),
      };
    }
    const record: MessageRecord = JSON.parse(planned.json);
    if (planned.role !== 'message') {
      const text = planned.topic === '' ? writer.writePointer(record) : writer.writeQuote(record);
      const message = this.messageOf(planned, place, this.sources.noticeSender, await this.render(text));
      const origin = { kind: planned.role, recordId: record.id, hash: digestOf(planned.topic) };
      return { ...this.withoutDetails(message), origin };
    }
    const sender = this.sources.people.get(record.sender);
    const shown = await this.showWithFiles(record, sender, planned.place);
    const { missingFiles } = shown.text;
    const message = this.messageOf(planned, place, sender.id, shown);
    const key: MessageKey = { number: planned.record, id: record.id };
    const changes = this.sources.staging.changes(key);
    const edits = await this.editsOf(planned.place, changes, sender);
    const editedAt = Math.max(record.editedAt ?? 0, edits[0]?.editedAt ?? 0);
    return {
      message: { ...message, isEdited: editedAt > 0, lastEditedAt: editedAt > 0 ? Math.floor(editedAt) : null },
      edits,
      reactions: this.reactionsOf(changes),
      submessages: [],
      isForSubscribers: place.kind === 'channel',
      holders: this.holdersOf(planned, place, key, sender.id),
      origin: { kind: 'message', recordId: record.id, hash: messageDigest(planned.json, changes) },
      ...(missingFiles.length > 0 && {
        keepFiles: (content: string, former: string) => keepFileLinks(content, former, missingFiles),
      }),
    };
  }

  private withoutDetails(message: ImportedMessage): MessageCopy {
    const isForSubscribers = message.channelId !== null;
    return { message, edits: [], reactions: [], submessages: [], holders: [], isForSubscribers };
  }

  /** Shows a message in the first form that links to all of its files. */
  private async showWithFiles(record: MessageRecord, sender: PlannedUser, place: string): Promise<ShownText> {
    let shown: ShownText | undefined;
    for (const form of TEXT_FORMS) {
      shown = await this.render(new MessageTextWriter(this.sources, place).write(record, sender, form));
      const { uploadPaths } = shown.rendered;
      if ([...shown.text.ownPaths].every((path) => uploadPaths.has(path))) break;
    }
    return shown!;
  }

  private messageOf(
    { number, topic, at }: PlannedMessage,
    place: PlannedPlace,
    senderId: UserId,
    { text, rendered, isPlain }: ShownText,
  ): ImportedMessage {
    if (isPlain) this.counts.unrenderable++;
    for (const path of rendered.uploadPaths) {
      const file = text.files.get(path);
      if (file) this.sources.files.attach(file, number);
    }
    return {
      id: number as MessageId,
      senderId,
      recipientId: place.recipientId,
      channelId: place.kind === 'channel' ? place.id : null,
      topic,
      content: text.markdown,
      renderedContent: rendered.html,
      sentAt: Math.floor(at),
      clientName: CLIENT_NAME,
      isMeMessage: rendered.isMeMessage,
      mentionsChannel: false,
      hasLink: rendered.hasLink,
      hasImage: rendered.hasImage,
      hasAttachment: rendered.uploadPaths.size > 0,
      topicLinks: null,
      isReadByDefault: isLiving(place),
      isEdited: false,
      lastEditedAt: null,
      lastMovedAt: null,
    };
  }

  private async render(text: MessageText): Promise<ShownText> {
    try {
      return { text, rendered: await this.rendered(text), isPlain: false };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const parsed = await this.sources.renderer.parse('', this.sources.options);
      const rendered = this.sources.renderer.render(parsed, NOTHING_NAMED);
      return { text, rendered: { ...rendered, html: `<p>${escapeHtml(text.markdown)}</p>` }, isPlain: true };
    }
  }

  private async rendered({ markdown, users, groups, files }: MessageText): Promise<RenderedMarkdown> {
    const { renderer, options } = this.sources;
    const parsed = await renderer.parse(markdown, options);
    const { userIds, groupNames, emojiNames, uploadPaths } = parsed.references;
    const names: ResolvedNames = {
      ...NOTHING_NAMED,
      usersById: pick(userIds, users),
      groupsByName: pick(groupNames, groups, ({ id, name, record }) => ({
        id,
        displayName: name,
        isActive: !record.isDeactivated,
      })),
      customEmoji: pick(emojiNames, this.customEmoji),
      uploads: pick(uploadPaths, files, ({ contentType, isPicture }) => ({
        contentType,
        // The import replaces the placeholder when the thumbnail with the true size is ready.
        image: isPicture ? { width: 1, height: 1, isAnimated: false, thumbnail: 'pending' as const } : null,
      })),
    };
    return renderer.render(parsed, names);
  }

  private async editsOf(
    place: string,
    { edits: records }: MessageChanges,
    sender: PlannedUser,
  ): Promise<readonly MessageEdit[]> {
    const edits: MessageEdit[] = [];
    for (const { record } of records.slice(0, MAX_EDITS)) {
      const earlier = new MessageTextWriter(this.sources, place).writeEarlier(record.previous);
      const { text, rendered, isPlain } = await this.render(earlier);
      if (isPlain) this.counts.unrenderable++;
      edits.push({
        userId: record.person === undefined ? sender.id : this.sources.people.get(record.person).id,
        editedAt: Math.floor(record.at),
        previousContent: { content: text.markdown, rendered: rendered.html },
        topic: null,
        channel: null,
      });
    }
    return edits;
  }

  private reactionsOf({ reactions }: MessageChanges): readonly Reaction[] {
    const records = reactions.map(({ record }) => record);
    return planReactions(records, this.sources.people, this.sources.reactions).flatMap(
      ({ reaction }) => reaction ?? [],
    );
  }

  /** Lists only readers with a star or an unread message; for all others, the message is read. */
  private holdersOf(
    { place: key, at }: PlannedMessage,
    place: PlannedPlace,
    message: MessageKey,
    sender: UserId,
  ): readonly HolderCopy[] {
    const holders = new Map<UserId, PersonalFlags>();
    for (const { userId, readUntil } of this.sources.readPositions.get(key) ?? []) {
      if (readUntil >= at) break;
      if (userId !== sender) holders.set(userId, { ...READ, read: false });
    }
    for (const { record } of this.sources.staging.details('pin', message)) {
      const user = record.person === undefined ? null : this.sources.people.find(record.person);
      if (!user?.isActive || !isMember(place, user.id)) continue;
      holders.set(user.id, { ...(holders.get(user.id) ?? READ), starred: true });
    }
    return [...holders].map(([userId, flags]) => ({ userId, flags }));
  }

  private pinnedIn(place: string): readonly MessageRecord[] {
    return this.sources.staging
      .all<{ readonly record: number }>(
        `SELECT DISTINCT planned.record FROM records pins
         JOIN records messages ON messages.kind = 'message' AND messages.id = pins.parent
         JOIN planned ON planned.record = messages.number AND planned.role = 'message'
         WHERE pins.kind = 'pin' AND json_extract(pins.json, '$.person') IS NULL AND planned.place = ?
           AND NOT EXISTS (SELECT 1 FROM known WHERE known.kind = 'pin' AND known.record = messages.id)
         ORDER BY planned.number`,
        place,
      )
      .map(({ record }) => this.recordOf(record));
  }

  private recordOf(number: number): MessageRecord {
    const row = this.sources.staging.get<{ readonly json: string }>(
      'SELECT json FROM records WHERE number = ?',
      number,
    );
    return JSON.parse(row!.json);
  }
}

const isMember = (place: PlannedPlace, userId: UserId): boolean =>
  place.kind === 'channel' ? place.members.has(userId) : place.userIds.includes(userId);

function pick<Key, Value, Result = Value>(
  keys: Iterable<Key>,
  from: ReadonlyMap<Key, Value>,
  map: (value: Value) => Result = (value) => value as unknown as Result,
): ReadonlyMap<Key, Result> {
  const found = new Map<Key, Result>();
  for (const key of keys) {
    const value = from.get(key);
    if (value !== undefined) found.set(key, map(value));
  }
  return found;
}
