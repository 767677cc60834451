import type { UserId } from '../kernel/ids.js';

/** What people would type to say it. */

/** A mention that notifies nobody. */
export const silentMention = (user: { readonly id: UserId; readonly fullName: string }): string =>
  `@_**${user.fullName}|${user.id}**`;
export const channelLink = (channel: { readonly name: string }): string => `#**${channel.name}**`;
