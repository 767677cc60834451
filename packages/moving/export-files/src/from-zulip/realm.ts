import type { Channel } from '@parley/domain/channels';
import type { CustomEmojiId, RealmCopy } from '@parley/domain/kernel';
import { REALM_IMAGE_NAMES, type RealmImages, STORED_REALM_SETTINGS } from '@parley/domain/realms';
import { REALM_IMAGE_WORDS } from '../layout.js';
import { EMOJI_NAME, flag, id, integer, list, orElse, orNull, text } from '../parley-shapes.js';
import { type Row, type TableReader, user } from './table-reader.js';

export function realmSettings(tables: TableReader, channels: readonly Channel[]): RealmCopy['realm']['settings'] {
  const row = tables.realmRow;
  const channelIds = new Set<unknown>(channels.map(({ id: own }) => own));
  const columns: Row = {
    ...row,
    moderation_request_channel_id: row.moderation_request_channel ?? -1,
    new_stream_announcements_stream_id: row.new_stream_announcements_stream ?? -1,
    signup_announcements_stream_id: row.signup_announcements_stream ?? -1,
    zulip_update_announcements_stream_id: row.zulip_update_announcements_stream ?? -1,
  };
  const stored = Object.fromEntries(
    Object.entries(columns).map(([name, value]) => {
      if (!/_(?:stream|channel)_id$/.test(name) || channelIds.has(value)) return [name, value];
      if (value !== -1 && value !== null) tables.drop('zerver_realm', name);
      return [name, -1];
    }),
  );
  return tables.settingsOf(STORED_REALM_SETTINGS, tables.names.realm, 'zerver_realm', stored);
}

export function realmImages(tables: TableReader): RealmImages {
  const images = REALM_IMAGE_NAMES.map((name) => {
    const [source, version] = [`${REALM_IMAGE_WORDS[name]}_source`, `${REALM_IMAGE_WORDS[name]}_version`];
    const isUploaded = tables.realmRow[source] === 'U';
    return [name, { isUploaded, version: Math.max(1, orElse(integer, 1)(tables.realmRow[version], version)) }];
  });
  return Object.fromEntries(images) as RealmImages;
}

export function readLinkifiers(tables: TableReader): RealmCopy['linkifiers'] {
  const rows = tables.table('zerver_realmfilter', {
    id: integer,
    pattern: text(10_000),
    url_template: text(10_000),
    example_input: orNull(text(10_000)),
    reverse_template: orNull(text(10_000)),
    alternative_url_templates: orElse(list(text(10_000), 1000), []),
    order: orElse(integer, 0),
  });
  return [...rows]
    .sort((a, b) => a.order - b.order || a.id - b.id)
    .map((it) => ({
      id: it.id,
      pattern: it.pattern,
      urlTemplate: it.url_template,
      exampleInput: it.example_input,
      reverseTemplate: it.reverse_template,
      alternativeUrlTemplates: it.alternative_url_templates,
    }));
}

export function readCustomEmoji(tables: TableReader): RealmCopy['customEmoji'] {
  const rows = tables.table('zerver_realmemoji', {
    id: id<CustomEmojiId>(),
    author: orNull(user),
    name: EMOJI_NAME,
    file_name: orNull(text(100)),
    is_animated: orElse(flag, false),
    deactivated: orElse(flag, false),
  });
  return [...rows]
    .sort((a, b) => a.id - b.id)
    .map((it) => ({
      id: it.id,
      name: it.name,
      authorId: it.author,
      // Determined when the picture is created.
      format: 'png',
      isAnimated: it.is_animated,
      isDeactivated: it.deactivated,
      fileName: it.file_name ?? `${it.id}.png`,
    }));
}
