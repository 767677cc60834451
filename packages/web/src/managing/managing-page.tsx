import { ChannelSettings } from './channel-settings.js';
import { BrowseChannels, CreateChannel } from './channels.js';
import { Missing } from './page-parts.js';

/** Pages of settings, by the address in Zulip's form: `#channels/5/name/general`, `#settings/profile` … */
export function ManagingPage({ path }: { readonly path: readonly string[] }) {
  const [area, place = '', ...rest] = path;
  if (area === 'channels' || area === 'streams') {
    if (place === 'new') return <CreateChannel />;
    if (/^\d+$/.test(place)) return <ChannelSettings channelId={Number(place)} section={rest[1] ?? 'general'} />;
    return <BrowseChannels filter={place} />;
  }
  return <Missing />;
}
