import { type Emoji, findEmoji, type UnicodeEmoji } from '@parley/domain/files';
import type { UserId } from '@parley/domain/kernel';
import { emojiNamed } from '@parley/domain/markdown';
import { MAX_EDITS } from '@parley/domain/messages';
import { MAX_REACTION_EMOJI, MAX_REACTIONS, type Reaction } from '@parley/domain/writing';
import type { ReactionRecord } from '@parley/transfer/records';
import { KNOWN_MESSAGE, NO_MESSAGE, type PlannedMessage, plannedMessage } from './plan-messages.js';
import type { PlannedPeople } from './plan-people.js';
import { isLiving, type PlannedEmoji, type PlannedPlaces, placeKey } from './plan-places.js';
import { MAX_DETAILS, type StagedRecord, type Staging } from './staging.js';

/** Finds emoji by name, alias or Unicode characters. */
export class ReactionEmoji {
  private readonly byName = new Map<string, Emoji | null>();

  constructor(
    private readonly custom: ReadonlyMap<string, PlannedEmoji>,
    private readonly aliases: ReadonlyMap<string, string>,
    private readonly unicode: UnicodeEmoji,
  ) {}

  /** Returns null for an unknown emoji. */
  find(name: string): Emoji | null {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const found = this.look(name);
    if (this.byName.size < MAX_CACHED_NAMES) this.byName.set(name, found);
    return found;
  }

  private look(name: string): Emoji | null {
    const own = this.custom.get(name) ?? this.custom.get(this.aliases.get(name) ?? '');
    if (own) return { type: 'custom', code: String(own.id), name: own.name };
    const standard = this.aliases.get(name) ?? name;
    return (
      this.ofCharacters(standard) ??
      findEmoji({ unicode: this.unicode, custom: [] }, standard) ??
      // Names of other systems come last, since custom emoji may have them.
      this.ofCharacters(emojiNamed(standard) ?? '')
    );
  }

  /** Characters may have variation selectors that the table lacks, or a skin tone that only some emoji have. */
  private ofCharacters(text: string): Emoji | null {
    if (/^[\w+-]+$/.test(text)) return null;
    const points = [...text].map((character) => character.codePointAt(0)!);
    const plain = points.filter((point) => point !== 0xfe0f);
    const toneless = plain.filter((point) => point < 0x1f3fb || point > 0x1f3ff);
    for (const some of [points, plain, toneless]) {
      const code = some.map((point) => point.toString(16).padStart(4, '0')).join('-');
      const [name] = this.unicode.namesByCode.get(code) ?? [];
      if (name !== undefined) return { type: 'unicode', code, name };
    }
    return null;
  }
}

const MAX_CACHED_NAMES = 10_000;

/** Decides about all reactions to one message, in order. Null: the reaction is imported. */
export function planReactions(
  records: readonly ReactionRecord[],
  people: PlannedPeople,
  emoji: ReactionEmoji,
): readonly { readonly reaction: Reaction | null; readonly reason: string }[] {
  const seen = new Set<string>();
  const codes = new Set<string>();
  return records.map((record) => {
    const found = emoji.find(record.emoji);
    if (!found) return { reaction: null, reason: 'unknown emoji' };
    const reaction = { ...found, userId: people.get(record.person).id };
    const key = `${reaction.userId} ${reaction.type} ${reaction.code}`;
    if (seen.has(key)) return { reaction: null, reason: REPEATED };
    if (seen.size >= MAX_REACTIONS || (codes.size >= MAX_REACTION_EMOJI && !codes.has(reaction.code))) {
      return { reaction: null, reason: TOO_MANY_REACTIONS };
    }
    seen.add(key);
    codes.add(reaction.code);
    return { reaction, reason: '' };
  });
}

const TOO_MANY_REACTIONS = 'too many reactions to one message';
const REPEATED = 'same reaction by the same person';

/** Accounts for reactions, edits and deletions. */
export function planDetails(staging: Staging, people: PlannedPeople, emoji: ReactionEmoji): void {
  const { ledger } = staging;
  accountByMessage(staging, 'reaction', MAX_DETAILS, TOO_MANY_REACTIONS, (reactions) => {
    const decisions = planReactions(
      reactions.map(({ record }) => record),
      people,
      emoji,
    );
    for (const [index, { reaction, reason }] of decisions.entries()) {
      const outcome = reaction ? 'imported' : reason === REPEATED ? 'merged' : 'dropped';
      ledger.account(reactions[index]!.number, reactions[index]!.record, outcome, reason);
    }
  });
  accountByMessage(staging, 'edit', MAX_EDITS, `more than ${MAX_EDITS} edits`, (edits) => {
    for (const { number, record } of edits) {
      if (record.person !== undefined) people.get(record.person);
      ledger.account(number, record, 'imported');
    }
  });
  for (const { number, record } of staging.list('deletion')) {
    const isKnown = staging.find('message', record.message) !== null;
    ledger.account(number, record, isKnown ? 'imported' : 'merged', isKnown ? '' : 'its message is not in the export');
  }
}

/**
 * Accounts for records of messages. `account` accounts for up to `limit` records of one message. The others are dropped for
 * the reason `beyond`.
 */
function accountByMessage<Kind extends 'reaction' | 'edit'>(
  staging: Staging,
  kind: Kind,
  limit: number,
  beyond: string,
  account: (details: readonly StagedRecord<Kind>[]) => void,
): void {
  const { ledger } = staging;
  let message: string | null = null;
  let planned: PlannedMessage | null = null;
  let details: StagedRecord<Kind>[] = [];
  for (const detail of staging.byMessage(kind)) {
    const { number, record } = detail;
    if (detail.message !== message) {
      account(details);
      details = [];
      message = detail.message;
      planned = plannedMessage(staging, message);
    }
    if (planned && planned.number <= staging.lastKnown) ledger.account(number, record, 'merged', KNOWN_MESSAGE);
    else if (!planned) ledger.account(number, record, 'dropped', NO_MESSAGE);
    else if (details.length < limit) details.push(detail);
    else ledger.account(number, record, 'dropped', beyond);
  }
  account(details);
}

/** Read positions by place: people and the time up to which they read, ascending. */
export type ReadPositions = ReadonlyMap<string, readonly { readonly userId: UserId; readonly readUntil: number }[]>;

/** Plans read positions of people with an account; all others have read everything. */
export function planReadPositions(staging: Staging, people: PlannedPeople, places: PlannedPlaces): ReadPositions {
  const positions = new Map<string, Map<UserId, number>>();
  for (const { number, record } of staging.list('readPosition')) {
    const key = placeKey(record);
    const place = places.find(key);
    const user = people.find(record.person);
    const members = place?.kind === 'channel' ? place.members : new Set(place?.userIds);
    const reason =
      place && isLiving(place)
        ? 'people read this conversation in Parley'
        : !place || !user
          ? 'unknown person or conversation'
          : !members.has(user.id)
            ? 'not a member'
            : null;
    if (reason !== null) staging.ledger.account(number, record, 'dropped', reason);
    else if (!user!.isActive) staging.ledger.account(number, record, 'dropped', 'the person has no account');
    else {
      const own = positions.get(key) ?? new Map<UserId, number>();
      positions.set(key, own.set(user!.id, Math.max(own.get(user!.id) ?? 0, record.readUntil)));
      staging.ledger.account(number, record, 'imported');
    }
  }
  return new Map(
    [...positions].map(([key, own]) => [
      key,
      [...own].map(([userId, readUntil]) => ({ userId, readUntil })).sort((a, b) => a.readUntil - b.readUntil),
    ]),
  );
}
