import type { ChannelId } from '../kernel/ids.js';
import { recordOf } from '../kernel/record-of.js';
import { REALM_SETTINGS, type RealmSettingName, type RealmSettings } from './realm-settings.js';

type ChannelSettingName = Extract<RealmSettingName, `${string}ChannelId`>;

/** Settings of the organization that name a channel. */
export const CHANNEL_SETTINGS = (Object.keys(REALM_SETTINGS) as RealmSettingName[]).filter(
  (name): name is ChannelSettingName => REALM_SETTINGS[name].kind === 'channel',
);

/** The settings with what `map` makes of each channel that one names; null: none from now on. */
export const mapChannelSettings = (
  settings: RealmSettings,
  map: (channelId: ChannelId) => ChannelId | null,
): RealmSettings => ({
  ...settings,
  ...recordOf(CHANNEL_SETTINGS, (name) => {
    const channelId = settings[name] as ChannelId | null;
    return channelId === null ? null : map(channelId);
  }),
});
