import { EXPORT_PARTS } from '@parley/domain/composition';
import type { MessageId, PersonCopy, RealmCopy, RecipientId, UserId } from '@parley/domain/kernel';
import { safeHtml } from '@parley/domain/markdown';
import { REALM_PERMISSIONS, USER_SETTINGS } from '@parley/domain/realms';
import type { MessageCopy } from '@parley/transfer/exports';
import { RECIPIENT_TYPES } from '../layout.js';
import type { ColumnNames } from '../message-rows.js';
import { flag, id, integer, orElse, orNull, printable, text, time, uuid } from '../parley-shapes.js';
import type { MessageHead } from '../read-messages.js';
import { readChannels, readConversations, readSubscriptions } from './channels.js';
import { readGroups } from './groups.js';
import { readReactions, readSubmessages } from './messages.js';
import { readPeople, readProfileFields } from './people.js';
import { readCustomEmoji, readLinkifiers, realmImages, realmSettings } from './realm.js';
import { NAME, type Row, recipient, TableReader, user } from './table-reader.js';
import { readUsers } from './users.js';

/** Content of a Zulip server's `realm.json`. */
export interface ZulipCopy {
  readonly realm: RealmCopy;
  readonly people: readonly PersonCopy[];
  readonly reactionsOf: (message: MessageId) => MessageCopy['reactions'];
  readonly submessagesOf: (message: MessageId) => MessageCopy['submessages'];
  /** Returns the user of a personal recipient. */
  readonly personOf: (recipient: RecipientId) => UserId | null;
  /** True for messages whose sender or conversation is missing from the export. */
  readonly skipsMessage: (head: MessageHead) => boolean;
  readonly unreadTables: ReadonlyMap<string, number>;
  /** Settings with values that Parley does not have. */
  readonly dropped: readonly string[];
}

/**
 * Converts Zulip's tables to an organization as far as Parley supports them. Ignores unknown columns and uses
 * defaults for missing ones. @throws DomainError INVALID_IMPORT
 */
export function readZulipTables(rows: Row, names: ColumnNames): ZulipCopy {
  const tables = new TableReader(rows, names);
  const users = readUsers(tables);
  const channels = readChannels(tables);
  const subscriptions = readSubscriptions(tables);
  const conversations = readConversations(tables, subscriptions);
  const [defaultRow = {}] = tables.rows('zerver_realmuserdefault');
  const userDefaults = tables.settingsOf(USER_SETTINGS, tables.names.user, 'zerver_realmuserdefault', defaultRow);
  const noData: Omit<RealmCopy, 'realm' | 'groups' | 'users' | 'channels' | 'conversations' | 'customEmoji'> =
    Object.assign({}, ...EXPORT_PARTS.realm.map(({ none }) => none));
  const realm: RealmCopy = {
    ...noData,
    realm: {
      id: tables.realmId,
      stringId: NAME(tables.realmRow.string_id, 'zerver_realm[0].string_id'),
      uuid: orElse(uuid, '00000000-0000-4000-8000-000000000000')(tables.realmRow.uuid, 'zerver_realm[0].uuid'),
      name: NAME(tables.realmRow.name, 'zerver_realm[0].name'),
      createdAt: time(tables.realmRow.date_created, 'zerver_realm[0].date_created'),
      settings: realmSettings(tables, channels),
      images: realmImages(tables),
      renderedDescription: safeHtml(
        orElse(text(), '')(tables.realmRow.rendered_description, 'zerver_realm[0].rendered_description'),
        orElse(text(), '')(tables.realmRow.description, 'zerver_realm[0].description'),
      ),
      permissions: tables.permissionsOf(REALM_PERMISSIONS, tables.realmRow),
      userDefaults,
    },
    linkifiers: readLinkifiers(tables),
    playgrounds: readPlaygrounds(tables),
    allowedDomains: tables
      .table('zerver_realmdomain', { id: integer, domain: NAME, allow_subdomains: flag })
      .map((it) => ({
        id: it.id,
        domain: it.domain,
        allowsSubdomains: it.allow_subdomains,
      })),
    customEmoji: readCustomEmoji(tables),
    groups: readGroups(tables, users),
    users,
    profileFields: readProfileFields(tables),
    channelFolders: readChannelFolders(tables),
    channels,
    conversations,
  };
  const userIds = new Set(users.map(({ user: { id: own } }) => own));
  const persons = new Map(
    tables
      .table('zerver_recipient', { id: recipient, type: integer, type_id: integer })
      .filter(({ type, type_id }) => type === RECIPIENT_TYPES.personal && userIds.has(type_id as UserId))
      .map((it) => [it.id, it.type_id as UserId]),
  );
  const recipients = new Set<RecipientId>([
    ...persons.keys(),
    ...channels.map(({ recipientId }) => recipientId),
    ...conversations.map(({ recipientId }) => recipientId),
  ]);
  const reactions = readReactions(tables, userIds);
  const submessages = readSubmessages(tables, userIds);
  const people = readPeople(tables, users, channels, subscriptions);
  return {
    realm,
    people,
    personOf: (of) => persons.get(of) ?? null,
    reactionsOf: (message) => reactions.get(message) ?? [],
    submessagesOf: (message) => submessages.get(message) ?? [],
    skipsMessage: ({ senderId, recipientId }) => !userIds.has(senderId) || !recipients.has(recipientId),
    unreadTables: tables.unread(),
    dropped: tables.dropped,
  };
}

const readPlaygrounds = (tables: TableReader): RealmCopy['playgrounds'] =>
  tables
    .table('zerver_realmplayground', {
      id: integer,
      name: NAME,
      pygments_language: NAME,
      url_template: text(10_000),
    })
    .map((it) => ({ id: it.id, name: it.name, language: it.pygments_language, urlTemplate: it.url_template }));

const readChannelFolders = (tables: TableReader): RealmCopy['channelFolders'] =>
  tables
    .table('zerver_channelfolder', {
      id: id<never>(),
      name: printable,
      description: orElse(text(10_000), ''),
      rendered_description: orElse(text(10_000), ''),
      order: orElse(integer, 0),
      date_created: orElse(time, 0),
      creator: orNull(user),
      is_archived: orElse(flag, false),
    })
    .map((it) => ({
      id: it.id,
      realmId: tables.realmId,
      name: it.name,
      description: it.description,
      renderedDescription: safeHtml(it.rendered_description, it.description),
      order: it.order,
      createdAt: it.date_created,
      creatorId: it.creator,
      isArchived: it.is_archived,
    }));
