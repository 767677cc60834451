import { topicKey } from '@parley/domain/channels';
import type { IMPORTED_MESSAGE_KINDS } from '@parley/domain/exports';
import type { UserId } from '@parley/domain/kernel';
import {
  fileReferences,
  firstWords,
  isTooLong,
  type MessageRecord,
  markdownOf,
  printable,
  type ReferenceTexts,
  threadTopic,
  topicOf,
} from '@parley/transfer/records';
import { messageDigest } from './digest.js';
import { BEFORE, type PlannedPeople } from './plan-people.js';
import { type PlannedPlaces, placeKey } from './plan-places.js';
import type { StagedRecord, Staging } from './staging.js';

/**
 * Message of the new organization: a message of the source, or a line that the import adds. `pointer` and `broadcast`
 * lead from the channel to a thread, `pins` lists the pinned messages of a channel.
 */
type PlannedRole = (typeof IMPORTED_MESSAGE_KINDS)[number];

export interface PlannedMessage {
  /** Id. New messages are ordered by time and follow earlier imports. */
  readonly number: number;
  /** Number of the staged record; null for a list of pins. */
  readonly record: number | null;
  readonly role: PlannedRole;
  readonly place: string;
  readonly topic: string;
  readonly at: number;
}

const PINS_TOPIC = 'pinned messages';

/** Number of remembered names; others are tried again from the start. */
const MAX_EQUAL_NAMES = 100_000;

/** Assigns ids and topics to messages in order of time. Messages of earlier imports keep theirs. */
export class MessagePlanner {
  /** Counts of what becomes of parts of messages, by description. */
  readonly notes = new Map<string, number>();
  /** Number to continue with, by channel, date and name of threads with equal names. */
  private readonly equalNames = new Map<string, number>();
  private count = 0;
  private lastAt = 0;

  constructor(
    private readonly staging: Staging,
    private readonly people: PlannedPeople,
    private readonly places: PlannedPlaces,
  ) {}

  /** Number of new messages, including added lines. */
  get messages(): number {
    return this.count;
  }

  plan(): void {
    const { database } = this.staging;
    database.exec('BEGIN');
    for (const staged of this.staging.messages()) this.planMessage(staged);
    this.planPins();
    database.exec('COMMIT');
    database.exec(`CREATE UNIQUE INDEX planned_by_record ON planned (record) WHERE role = 'message'`);
  }

  private planMessage({ number, record, json }: StagedRecord<'message'>): void {
    const { ledger } = this.staging;
    const key = placeKey(record);
    const place = this.places.find(key);
    if (!place) {
      ledger.account(number, record, 'dropped', 'its channel or conversation is missing, so its readers are unknown');
      return;
    }
    if (this.staging.isDeleted(number)) {
      ledger.account(number, record, 'dropped', 'deleted in the source');
      return;
    }
    const sender = this.people.get(record.sender);
    const known = this.staging.known('message', record.id);
    const thread = place.kind === 'channel' ? this.threadOf(number, record) : null;
    const topic = place.kind === 'channel' ? this.topicOf(key, { number, record, json }, thread) : '';
    const isChanged =
      known !== null &&
      this.staging.isChanged(record.id, messageDigest(json, this.staging.changes({ number, id: record.id })));
    this.add({ record: number, role: 'message', place: key, topic, at: record.sentAt }, known);
    // A message that became the first of a thread after its import stays in place; a line in the topic links to it.
    if (topic !== '' && thread === record.id) this.addLine(number, 'pointer', key, record, known === null ? '' : topic);
    if (topic !== '' && thread !== record.id && record.isBroadcast) this.addLine(number, 'broadcast', key, record);
    this.noteFiles(record, sender.id, known !== null && !isChanged);
    if (known === null) this.noteParts(record);
    if (isChanged) this.staging.run('INSERT INTO changed VALUES (?)', known);
    if (known === null) ledger.account(number, record, 'imported');
    else ledger.account(number, record, 'merged', isChanged ? 'changed since the last import' : BEFORE);
  }

  private add(message: Omit<PlannedMessage, 'number'>, known: number | null): void {
    const { record, role, place, topic, at } = message;
    this.lastAt = at;
    if (known === null) this.count++;
    this.staging.run(
      'INSERT INTO planned (number, record, role, place, topic, at) VALUES (?, ?, ?, ?, ?, ?)',
      known ?? this.staging.lastKnown + this.count,
      record,
      role,
      place,
      topic,
      at,
    );
  }

  private addLine(
    record: number,
    role: 'pointer' | 'broadcast',
    place: string,
    { id, sentAt }: MessageRecord,
    topic = '',
  ): void {
    const known = this.staging.known(role, id);
    this.add({ record, role, place, topic, at: sentAt }, known);
    if (known === null) this.note('lines that lead to a thread or to its first message');
  }

  /** Returns the thread of a message in a channel; a root message is in its own thread. */
  private threadOf(number: number, record: MessageRecord): string | null {
    if (record.topic !== undefined) return null;
    if (record.thread !== undefined && record.thread !== record.id) return record.thread;
    const isRoot = this.staging.isParent('message', number) || this.staging.find('thread', record.id) !== null;
    return isRoot ? record.id : null;
  }

  private topicOf(place: string, staged: StagedRecord<'message'>, thread: string | null): string {
    const { record } = staged;
    if (record.topic !== undefined) {
      const topic = topicOf(record.topic);
      this.staging.reserveTopic(place, null, topic);
      return topic;
    }
    if (thread === null) return '';
    const existing = this.staging.get<{ readonly topic: string }>(
      'SELECT topic FROM topics WHERE place = ? AND thread = ?',
      place,
      thread,
    );
    if (existing) return existing.topic;
    const root = thread === record.id ? staged : this.staging.find('message', thread);
    const date = new Date((root ?? staged).record.sentAt * 1000).toISOString().slice(0, 10);
    const name = this.nameOfThread(place, thread, root);
    const key = `${place} ${date} ${topicKey(name)}`;
    for (let count = this.equalNames.get(key) ?? 1; ; count++) {
      const topic = threadTopic(name, date, count);
      if (!this.staging.reserveTopic(place, thread, topic)) continue;
      if (count > 1) {
        if (this.equalNames.size >= MAX_EQUAL_NAMES) this.equalNames.clear();
        this.equalNames.set(key, count + 1);
      }
      return topic;
    }
  }

  private nameOfThread(place: string, thread: string, root: StagedRecord<'message'> | null): string {
    const named = this.staging.find('thread', thread)?.record;
    const name = named && placeKey(named) === place ? topicOf(named.name ?? '') : '';
    // The words of a deleted message or one in another channel may be private.
    const isPublished =
      root !== null && placeKey(root.record) === place && !this.staging.isParent('deletion', root.number);
    if (name !== '' || !isPublished) return name;
    return firstWords(markdownOf(root.record.content, this.plainTexts));
  }

  private readonly plainTexts: ReferenceTexts = {
    person: (id) => `@${this.people.find(id)?.fullName ?? id}`,
    group: () => null,
    channel: (_, label) => label ?? '',
    message: (_, label) => label ?? '',
    file: (_, label) => label ?? '',
  };

  private noteParts({ content, unsupported = [] }: MessageRecord): void {
    if (isTooLong(markdownOf(content, this.plainTexts))) this.note('long messages, with the whole text as a file');
    for (const { type } of unsupported) this.note(`parts of the type ${printable(type)}, with the original as a file`);
  }

  private note(what: string): void {
    this.notes.set(what, (this.notes.get(what) ?? 0) + 1);
  }

  /** Remembers the files that messages refer to, owned by the first sender. */
  private noteFiles(record: MessageRecord, sender: UserId, isKnown: boolean): void {
    for (const { id } of fileReferences(record)) {
      if (isKnown) this.staging.run('INSERT OR IGNORE INTO known_files VALUES (?)', id);
      else this.staging.run('INSERT OR IGNORE INTO files (id, owner) VALUES (?, ?)', id, sender);
    }
  }

  /** Adds a message with links for every channel with pinned messages that no earlier import listed. */
  private planPins(): void {
    const channels = new Set<string>();
    for (const { number, record } of this.staging.list('pin')) {
      const planned = plannedMessage(this.staging, record.message);
      const { ledger } = this.staging;
      const isKnown = planned !== null && planned.number <= this.staging.lastKnown;
      const isStar = record.person !== undefined;
      if (!planned) ledger.account(number, record, 'dropped', NO_MESSAGE);
      else if (isStar && isKnown) ledger.account(number, record, 'merged', KNOWN_MESSAGE);
      else if (isStar) ledger.account(number, record, 'imported', 'starred message');
      else if (planned.place.startsWith('d:'))
        ledger.account(number, record, 'dropped', 'direct messages have no pins');
      else if (this.staging.known('pin', record.message) !== null) ledger.account(number, record, 'merged', BEFORE);
      else {
        channels.add(planned.place);
        ledger.account(number, record, 'represented', `link in the topic “${PINS_TOPIC}”`);
      }
    }
    for (const place of channels) {
      this.add({ record: null, role: 'pins', place, topic: PINS_TOPIC, at: this.lastAt }, null);
      this.note('lists of pinned messages');
    }
  }
}

/** Reason for records about a message of an earlier import. */
export const KNOWN_MESSAGE = 'its message was imported before';

/** Reason for records about a message that is missing or was dropped. */
export const NO_MESSAGE = 'its message is not imported';

/** Returns the planned message of a message record. */
export function plannedMessage(staging: Staging, id: string): PlannedMessage | null {
  const found = staging.get<PlannedMessage>(
    `SELECT planned.* FROM records JOIN planned ON planned.record = records.number AND planned.role = 'message'
     WHERE records.kind = 'message' AND records.id = ?`,
    id,
  );
  return found ?? null;
}
