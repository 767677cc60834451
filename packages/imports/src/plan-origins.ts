import type { ExportedRecords, ImportedKind, ImportOrigins, RecordOrigin } from '@parley/domain/exports';
import type { ImportRecord } from '@parley/domain/imports';
import { digestOf, messageDigest } from './digest.js';
import type { PlannedPeople } from './plan-people.js';
import { type PlannedEmoji, type PlannedGroup, type PlannedPlaces, placeKey } from './plan-places.js';
import type { Staging } from './staging.js';

export interface OriginSources {
  readonly staging: Staging;
  readonly people: PlannedPeople;
  readonly places: PlannedPlaces;
  readonly groups: ReadonlyMap<string, PlannedGroup>;
  readonly emoji: ReadonlyMap<string, PlannedEmoji>;
}

/** Lists the records that people, groups, channels, direct conversations and emoji of the plan come from. */
export function originsOf({ staging, people, places, groups, emoji }: OriginSources): ImportOrigins {
  const found = (record: ImportRecord, kind: ImportedKind, targetId: number | undefined) =>
    targetId === undefined
      ? []
      : [{ origin: { kind, recordId: record.id, hash: digestOf(JSON.stringify(record)) }, targetId }];
  return {
    source: staging.source ?? '',
    *list() {
      for (const { record } of staging.list('person')) yield* found(record, 'person', people.find(record.id)?.id);
      for (const { record } of staging.list('group')) yield* found(record, 'group', groups.get(record.id)?.id);
      for (const { record } of staging.list('channel')) {
        yield* found(record, 'channel', places.findChannel(record.id)?.id);
      }
      for (const { record } of staging.list('conversation')) {
        const place = places.find(placeKey({ conversation: record.id }));
        yield* found(record, 'conversation', place?.recipientId);
      }
      for (const { record } of staging.list('emoji')) yield* found(record, 'emoji', emoji.get(record.name)?.id);
    },
  };
}

const MESSAGES_AT_A_TIME = 1000;

/** Lists the records that objects of the plan come from, with messages. */
export function recordsOf(origins: ImportOrigins, staging: Staging): ExportedRecords {
  return {
    source: origins.source,
    *list() {
      for (const { origin } of origins.list()) yield origin;
      yield* messageOrigins(staging);
    },
    has: (kind, recordId) => staging.find(kind, recordId) !== null,
  };
}

function* messageOrigins(staging: Staging): Generator<RecordOrigin> {
  let page: { readonly planned: number; readonly number: number; readonly id: string; readonly json: string }[];
  let after = 0;
  do {
    page = staging.all(
      `SELECT planned.number AS planned, records.number, records.id, records.json
       FROM planned JOIN records ON records.number = planned.record
       WHERE planned.role = 'message' AND planned.number > ? ORDER BY planned.number LIMIT ?`,
      after,
      MESSAGES_AT_A_TIME,
    );
    for (const { json, ...message } of page) {
      yield { kind: 'message', recordId: message.id, hash: messageDigest(staging, message, json) };
    }
    after = page.at(-1)?.planned ?? after;
  } while (page.length === MESSAGES_AT_A_TIME);
}
