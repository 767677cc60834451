import { topicKey } from '@parley/domain/channels';
import type { MergeSource, RealmCopy } from '@parley/domain/exports';
import type { AccessCopy, AccessDifference } from '@parley/domain/imports';
import { type MessageId, slicesOf, type UserId } from '@parley/domain/kernel';
import type { ExistingOrganization } from './existing.js';
import { addedAccess } from './plan-access.js';
import type { PlannedPeople } from './plan-people.js';
import { type PlannedPlaces, placeKey } from './plan-places.js';
import { personCopies, privacyOf } from './plan-realm.js';
import type { Staging } from './staging.js';

export const existingIds = ({ realm }: ExistingOrganization): MergeSource['existing'] => ({
  users: realm.users.map(({ user }) => user.id),
  groups: realm.groups.map(({ id }) => id),
  channels: realm.channels.map(({ id }) => id),
  recipients: [...realm.channels, ...realm.conversations].map(({ recipientId }) => recipientId),
  emoji: realm.customEmoji.map(({ id }) => id),
  channelFolders: realm.channelFolders.map(({ id }) => id),
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
 * Returns who could read a new conversation only after the import. Existing conversations keep their readers.
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

const THREADS_AT_A_TIME = 500;

/** Keeps the topics of threads with new replies as they are called in the organization now. */
export async function reserveTopics(staging: Staging, existing: ExistingOrganization): Promise<void> {
  if (staging.lastKnown === 0) return;
  const threads = staging.all<{ readonly thread: string; readonly channel: string; readonly target: MessageId }>(
    `SELECT DISTINCT new.parent AS thread, json_extract(new.json, '$.channel') AS channel, coalesce(
       (SELECT root.target FROM known root JOIN known line ON line.kind = 'pointer' AND line.record = root.record
        WHERE root.kind = 'message' AND root.record = new.parent),
       (SELECT reply.target FROM records r JOIN known reply ON reply.kind = 'message' AND reply.record = r.id
        WHERE r.kind = 'message' AND r.parent = new.parent LIMIT 1)) AS target
     FROM records new
     WHERE new.kind = 'message' AND new.parent IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM known WHERE kind = 'message' AND record = new.id)`,
  );
  const found = threads.filter(({ channel, target }) => channel !== null && target !== null);
  for (const slice of slicesOf(found, THREADS_AT_A_TIME)) {
    const topics = await existing.topics(slice.map(({ target }) => target));
    for (const { thread, channel, target } of slice) {
      const topic = topics.get(target);
      if (topic === undefined || topic === '') continue;
      const place = placeKey({ channel });
      const sql = 'INSERT OR IGNORE INTO topics (place, thread, key, topic) VALUES (?, ?, ?, ?)';
      staging.run(sql, place, thread, topicKey(topic), topic);
    }
  }
}
