import type { Channel } from '@parley/domain/channels';
import type { RealmCopy } from '@parley/domain/exports';
import { REALM_IMAGE_NAMES, type RealmImages, STORED_REALM_SETTINGS } from '@parley/domain/realms';
import { REALM_IMAGE_WORDS } from '../layout.js';
import { integer, orElse } from '../shape.js';
import { type Row, settingsOf, type TableReader } from './table-reader.js';

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
  const known = Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name,
      /_(?:stream|channel)_id$/.test(name) && !channelIds.has(value) ? -1 : value,
    ]),
  );
  return settingsOf(STORED_REALM_SETTINGS, tables.names.realm, known);
}

export function realmImages(tables: TableReader): RealmImages {
  const images = REALM_IMAGE_NAMES.map((name) => {
    const [source, version] = [`${REALM_IMAGE_WORDS[name]}_source`, `${REALM_IMAGE_WORDS[name]}_version`];
    const isUploaded = tables.realmRow[source] === 'U';
    return [name, { isUploaded, version: Math.max(1, orElse(integer, 1)(tables.realmRow[version], version)) }];
  });
  return Object.fromEntries(images) as RealmImages;
}
