import type { MessageId, RealmCopy, UserId } from '@parley/domain/kernel';
import type { MergeSource } from '@parley/transfer/exports';
import type { AccessCopy, AccessDifference } from '@parley/transfer/records';
import type { ExistingOrganization } from './existing-organization.js';
import { addedAccess } from './plan-access.js';
import type { PlannedPeople } from './plan-people.js';
import { type PlannedPlaces, placeKey } from './plan-places.js';
import { personCopies, privacyOf } from './plan-realm.js';
import type { Staging } from './staging.js';

const existingIds = (
  { realm, batches }: ExistingOrganization,
  { lastKnown }: Pick<Staging, 'lastKnown'>,
): MergeSource['existing'] => ({
  batches,
  lastMessageId: lastKnown,
  users: realm.users.map(({ user }) => user.id),
  groups: realm.groups.map(({ id }) => id),
  channels: realm.channels.map(({ id }) => id),
  recipients: [...realm.channels, ...realm.conversations].map(({ recipientId }) => recipientId),
  emoji: realm.customEmoji.map(({ id }) => id),
  channelFolders: realm.channelFolders.map(({ id }) => id),
});

/** Returns the parts of the source about the organization and its earlier imports. */
export const earlierImports = (
  existing: ExistingOrganization,
  staging: Staging,
): Pick<MergeSource, 'existing' | 'hasChanges' | 'deleted'> => ({
  existing: existingIds(existing, staging),
  hasChanges: hasChanges(staging),
  deleted: () => deletedRecords(staging),
});

/** Returns the channels that the import makes visible. */
export const publishedChannels = (
  places: PlannedPlaces,
  sharing: { readonly isPublicRestricted: boolean },
): MergeSource['published'] =>
  places.channels
    .filter(({ isPublished }) => isPublished)
    .map(({ id, recipientId, record, members }) => ({
      ...{ id, recipientId, members: [...members] },
      privacy: privacyOf(record, sharing),
      isArchived: record.isArchived ?? false,
    }));

interface MergedRealm {
  readonly existing: ExistingOrganization;
  /** New objects. */
  readonly realm: RealmCopy;
  readonly published: MergeSource['published'];
}

/**
 * Returns people who could not read a new conversation in the source. Existing conversations keep their readers.
 * @param granted people who may read public channels of the source
 */
export function newAccessOf(
  { existing, realm, published }: MergedRealm,
  planned: { readonly people: PlannedPeople; readonly places: PlannedPlaces },
  access: AccessCopy<UserId>,
  granted: readonly UserId[],
): readonly AccessDifference<UserId>[] {
  const visible = new Map(published.map(({ id, privacy }) => [id, privacy]));
  const channels = [...existing.realm.channels, ...realm.channels].flatMap((channel) => {
    const privacy = visible.get(channel.id);
    return privacy === undefined ? [] : [{ ...channel, privacy }];
  });
  const users = [...existing.realm.users, ...realm.users];
  const before = { ...access, fullMembers: new Set([...access.fullMembers, ...granted]) };
  const { conversations } = realm;
  return addedAccess(before, { users, channels, conversations }, personCopies(planned));
}

/** Number of messages of the organization read at once. */
const MESSAGES_AT_A_TIME = 500;

/** Thread with new replies. */
interface GrownThread {
  readonly number: number;
  readonly thread: string;
  readonly channel: string;
  /** Message with the topic of the thread. */
  readonly target: MessageId;
}

/** Reserves the current topics of threads with new replies. */
export async function reserveTopics(staging: Staging, existing: ExistingOrganization): Promise<void> {
  if (staging.lastKnown === 0) return;
  // Reads all messages twice, because they have no index by thread.
  staging.run(
    `INSERT INTO grown_threads (thread, channel, target)
     WITH
       threads AS MATERIALIZED (
         SELECT DISTINCT parent AS thread, json_extract(json, '$.channel') AS channel FROM records
         WHERE kind = 'message' AND parent IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM known WHERE known.kind = 'message' AND known.record = records.id)),
       replies AS MATERIALIZED (
         SELECT parent AS thread, min(known.target) AS target FROM records
         JOIN known ON known.kind = 'message' AND known.record = records.id
         WHERE records.kind = 'message' AND parent IN (SELECT thread FROM threads) GROUP BY parent)
     SELECT * FROM (
       SELECT threads.thread, channel, coalesce(
         (SELECT root.target FROM known root JOIN known line ON line.kind = 'pointer' AND line.record = root.record
          WHERE root.kind = 'message' AND root.record = threads.thread), replies.target) AS target
       FROM threads LEFT JOIN replies ON replies.thread = threads.thread)
     WHERE channel IS NOT NULL AND target IS NOT NULL`,
  );
  const query = {
    sql: 'SELECT * FROM grown_threads WHERE number > ? ORDER BY number LIMIT ?',
    after: 0,
    keyOf: ({ number }: GrownThread) => number,
    limit: MESSAGES_AT_A_TIME,
  };
  for (const page of staging.pages(query)) {
    const messages = await existing.current(page.map(({ target }) => target));
    for (const { thread, channel, target } of page) {
      const topic = messages.get(target)?.topic;
      if (topic !== undefined && topic !== '') staging.reserveTopic(placeKey({ channel }), thread, topic);
    }
  }
}

/** Order of pages of `known` and `deleted`. */
export const BY_RECORD = { after: '', keyOf: ({ record }: { readonly record: string }) => record };

/** Yields the records of deleted messages, in batches. */
async function* deletedRecords(staging: Staging): AsyncGenerator<readonly string[]> {
  const sql = 'SELECT record FROM deleted WHERE record > ? ORDER BY record LIMIT ?';
  for (const page of staging.pages({ sql, ...BY_RECORD })) yield page.map(({ record }) => record);
}

/** True if messages of earlier imports changed or were deleted in the source. */
const hasChanges = (staging: Staging): boolean =>
  staging.get('SELECT 1 FROM changed UNION ALL SELECT 1 FROM deleted LIMIT 1') !== undefined;
