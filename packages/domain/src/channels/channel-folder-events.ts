import type { FeatureParts } from '../kernel/event.js';
import type { ChannelFolderId } from '../kernel/ids.js';
import type { ChannelFolder } from './channel-folder.js';

/** One property, with its HTML where it is Markdown. */
export type ChannelFolderChange =
  | Pick<ChannelFolder, 'name'>
  | Pick<ChannelFolder, 'description' | 'renderedDescription'>
  | Pick<ChannelFolder, 'isArchived'>;

/** All of it is sent to everybody (channels §6.5). */
export interface ChannelFolderEventTypes {
  'channel_folder.created': { readonly folder: ChannelFolder };
  'channel_folder.changed': { readonly folderId: ChannelFolderId; readonly change: ChannelFolderChange };
  /** `folderIds`: as they were sent. */
  'channel_folder.reordered': { readonly folderIds: readonly ChannelFolderId[] };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends ChannelFolderEventTypes {}
}

export const CHANNEL_FOLDER_FEATURE = {
  eventFormats: {
    'channel_folder.created': 1,
    'channel_folder.changed': 1,
    'channel_folder.reordered': 1,
  },
} satisfies FeatureParts<ChannelFolderEventTypes>;
