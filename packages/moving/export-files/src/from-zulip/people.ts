import { type Channel, normalizeColor } from '@parley/domain/channels';
import { EXPORT_PARTS } from '@parley/domain/composition';
import { emojiWord } from '@parley/domain/files';
import type {
  ChannelId,
  PersonCopy,
  ProfileFieldId,
  RealmCopy,
  RealmId,
  RecipientId,
  UserId,
} from '@parley/domain/kernel';
import { safeHtml } from '@parley/domain/markdown';
import { isOnboardingStep } from '@parley/domain/users';
import type { UserCopy } from '@parley/transfer/exports';
import { EMOJI_TYPE_NAMES, FIELD_TYPES, keyOfValue, VISIBILITY_NUMBERS } from '../layout.js';
import { flag, id, integer, moment, orElse, orNull, parseJson, record, text, time } from '../parley-shapes.js';
import type { readSubscriptions } from './channels.js';
import { channel, grouped, NAME, type TableReader, user } from './table-reader.js';

const NO_DATA: Omit<PersonCopy, 'userId' | 'subscriptions' | 'botStorage'> = Object.assign(
  {},
  ...EXPORT_PARTS.people.map(({ none }) => none),
);

export function readProfileFields(tables: TableReader): RealmCopy['profileFields'] {
  return tables
    .table('zerver_customprofilefield', {
      id: id<ProfileFieldId>(),
      name: NAME,
      hint: orElse(NAME, ''),
      field_type: integer,
      field_data: orElse(text(100_000), ''),
      order: orElse(integer, 0),
      display_in_profile_summary: orElse(flag, false),
      required: orElse(flag, false),
      editable_by_user: orElse(flag, true),
      use_for_user_matching: orElse(flag, false),
    })
    .flatMap((it) => {
      const kind = keyOfValue(FIELD_TYPES, it.field_type);
      if (!kind) return [];
      const location = 'zerver_customprofilefield.field_data';
      const data = it.field_data === '' ? {} : record(parseJson(it.field_data, location), location);
      return {
        id: it.id,
        realmId: tables.realmId,
        kind,
        order: it.order,
        name: it.name,
        hint: it.hint,
        data: data as RealmCopy['profileFields'][number]['data'],
        isRequired: it.required,
        isEditableByUser: it.editable_by_user,
        isForMatching: it.use_for_user_matching,
        isInSummary: it.display_in_profile_summary,
      };
    });
}

/** Rows of people's own data by user. */
type PersonalRows = ReturnType<typeof personalRows>;

function personalRows(tables: TableReader, subscriptions: ReturnType<typeof readSubscriptions>) {
  const own = { user_profile: user };
  const subscribed = grouped(subscriptions, (it) => it.user_profile);
  const topics = grouped(
    tables.table('zerver_usertopic', {
      ...own,
      stream: channel,
      topic_name: NAME,
      last_updated: orElse(time, 0),
      visibility_policy: integer,
    }),
    (it) => it.user_profile,
  );
  const values = grouped(
    tables.table('zerver_customprofilefieldvalue', {
      ...own,
      field: id<ProfileFieldId>(),
      value: text(100_000),
      rendered_value: orNull(text(100_000)),
    }),
    (it) => it.user_profile,
  );
  const statuses = grouped(
    tables.table('zerver_userstatus', {
      ...own,
      status_text: orElse(NAME, ''),
      emoji_name: orElse(emojiWord, ''),
      emoji_code: orElse(emojiWord, ''),
      reaction_type: orElse(NAME, EMOJI_TYPE_NAMES.unicode),
    }),
    (it) => it.user_profile,
  );
  const presences = grouped(
    tables.table('zerver_userpresence', {
      ...own,
      last_connected_time: orNull(moment),
      last_active_time: orNull(moment),
    }),
    (it) => it.user_profile,
  );
  const words = grouped(tables.table('zerver_alertword', { ...own, word: NAME }), (it) => it.user_profile);
  const muted = grouped(
    tables.table('zerver_muteduser', { ...own, muted_user: user, date_muted: orElse(time, 0) }),
    (it) => it.user_profile,
  );
  const snippets = grouped(
    tables.table('zerver_savedsnippet', {
      ...own,
      id: id<never>(),
      title: NAME,
      content: text(),
      date_created: orElse(time, 0),
    }),
    (it) => it.user_profile,
  );
  const views = grouped(
    tables.table('zerver_navigationview', { user, fragment: text(10_000), is_pinned: flag, name: orNull(NAME) }),
    (it) => it.user,
  );
  const steps = grouped(tables.table('zerver_onboardingstep', { user, onboarding_step: NAME }), (it) => it.user);
  const storage = grouped(
    tables.table('zerver_botstoragedata', { bot_profile: user, key: text(), value: text() }),
    (it) => it.bot_profile,
  );
  return { subscribed, topics, values, statuses, presences, words, muted, snippets, views, steps, storage };
}

/** Objects that a person's data may name. */
interface KnownObjects {
  readonly channelOf: ReadonlyMap<RecipientId, ChannelId>;
  readonly channelIds: ReadonlySet<ChannelId>;
  readonly userIds: ReadonlySet<UserId>;
  readonly fieldIds: ReadonlySet<ProfileFieldId>;
}

export function readPeople(
  tables: TableReader,
  users: readonly UserCopy[],
  channels: readonly Channel[],
  subscriptions: ReturnType<typeof readSubscriptions>,
): readonly PersonCopy[] {
  const known: KnownObjects = {
    channelOf: new Map(channels.map((it) => [it.recipientId, it.id])),
    channelIds: new Set(channels.map(({ id: own }) => own)),
    userIds: new Set(users.map(({ user: { id: own } }) => own)),
    fieldIds: new Set(readProfileFields(tables).map(({ id: own }) => own)),
  };
  const rows = personalRows(tables, subscriptions);
  return users
    .filter(({ systemKind }) => systemKind === null)
    .map(({ user: { id: userId } }) => ({
      ...NO_DATA,
      userId,
      ...channelData(rows, known, tables.realmId, userId),
      ...profileData(rows, known, userId),
      ...ownContent(rows, tables.realmId, userId),
      mutedUsers: (rows.muted.get(userId) ?? [])
        .filter((it) => known.userIds.has(it.muted_user))
        .map((it) => ({ userId: it.muted_user, mutedAt: it.date_muted })),
    }));
}

/** Subscriptions and topic policies. */
const channelData = (
  { subscribed, topics }: PersonalRows,
  { channelOf, channelIds }: KnownObjects,
  realmId: RealmId,
  userId: UserId,
) => ({
  subscriptions: (subscribed.get(userId) ?? []).flatMap((it) => {
    const channelId = channelOf.get(it.recipient);
    if (channelId === undefined) return [];
    return {
      realmId,
      userId,
      channelId,
      isActive: it.active,
      color: /^#[0-9a-f]{3,6}$/i.test(it.color) ? normalizeColor(it.color) : '#c2c2c2',
      isMuted: it.is_muted,
      isPinned: it.pin_to_top,
      notifications: {
        desktop: it.desktop_notifications,
        audible: it.audible_notifications,
        push: it.push_notifications,
        email: it.email_notifications,
        wildcardMentions: it.wildcard_mentions_notify,
      },
    };
  }),
  topicPolicies: (topics.get(userId) ?? []).flatMap((it) => {
    const visibility = keyOfValue(VISIBILITY_NUMBERS, it.visibility_policy);
    if (!visibility || !channelIds.has(it.stream)) return [];
    return {
      realmId,
      userId,
      channelId: it.stream,
      topic: it.topic_name,
      visibility,
      changedAt: it.last_updated,
    };
  }),
});

/** Profile, status and presence. */
function profileData({ values, statuses, presences }: PersonalRows, { fieldIds }: KnownObjects, userId: UserId) {
  const [status] = statuses.get(userId) ?? [];
  const [presence] = presences.get(userId) ?? [];
  const emojiType = status && keyOfValue(EMOJI_TYPE_NAMES, status.reaction_type);
  return {
    profile: (values.get(userId) ?? [])
      .filter(({ field }) => fieldIds.has(field))
      .map((it) => ({
        fieldId: it.field,
        value: it.value,
        rendered: it.rendered_value === null ? null : safeHtml(it.rendered_value, it.value),
      })),
    status: status
      ? {
          text: status.status_text,
          emoji:
            status.emoji_name === '' || !emojiType
              ? null
              : { type: emojiType, code: status.emoji_code, name: status.emoji_name },
        }
      : null,
    presence:
      presence && presence.last_connected_time !== null
        ? {
            lastActive: presence.last_active_time === null ? null : Math.floor(presence.last_active_time),
            lastConnected: Math.floor(presence.last_connected_time),
          }
        : null,
  };
}

/** Texts and choices of a person, and the storage of a bot. */
const ownContent = ({ words, snippets, views, steps, storage }: PersonalRows, realmId: RealmId, userId: UserId) => ({
  alertWords: (words.get(userId) ?? []).map(({ word }) => word),
  snippets: (snippets.get(userId) ?? []).map((it) => ({
    id: it.id,
    realmId,
    userId,
    title: it.title,
    content: it.content,
    createdAt: it.date_created,
  })),
  navigationViews: (views.get(userId) ?? []).map((it) => ({
    fragment: it.fragment,
    isPinned: it.is_pinned,
    name: it.name,
  })),
  onboardingSteps: (steps.get(userId) ?? []).map((it) => it.onboarding_step).filter(isOnboardingStep),
  botStorage: (storage.get(userId) ?? []).map(({ key, value }) => ({ key, value })),
});
