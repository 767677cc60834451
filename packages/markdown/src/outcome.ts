import type { GroupId, UserId } from '@parley/domain/kernel';
import { noneOf } from './sets.js';

/** What formatting finds out beside the HTML. */
export class Outcome {
  mentionedUserIds = noneOf<UserId>();
  mentionedGroupIds = noneOf<GroupId>();
  mentionsChannelWildcard = false;
  mentionsTopicWildcard = false;
  hasLink = false;
  hasImage = false;
  uploadPaths = noneOf<string>();
  pendingThumbnails = noneOf<string>();
}
