import { ChannelSettings } from './channel-settings.js';
import { BrowseChannels, CreateChannel } from './channels.js';
import { BrowseGroups, GroupSettings } from './groups.js';
import { Missing } from './page-parts.js';
import { SettingsPages } from './settings-pages.js';

/** Pages of settings, by the address in Zulip's form: `#channels/5/name/general`, `#settings/profile` … */
export function ManagingPage({ path }: { readonly path: readonly string[] }) {
  const [area, place = '', ...rest] = path;
  if (area === 'channels') {
    if (place === 'new') return <CreateChannel />;
    if (/^\d+$/.test(place))
      return <ChannelSettings key={place} channelId={Number(place)} section={rest[1] ?? 'general'} />;
    return <BrowseChannels filter={place} />;
  }
  if (area === 'groups') {
    if (/^\d+$/.test(place))
      return <GroupSettings key={place} groupId={Number(place)} section={rest[1] ?? 'general'} />;
    return <BrowseGroups filter={place} />;
  }
  if (area === 'settings' || area === 'organization')
    return <SettingsPages area={area} place={path.slice(1).join('/')} />;
  return <Missing />;
}
