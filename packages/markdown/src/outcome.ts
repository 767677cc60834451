import type { GroupId, UserId } from '@parley/domain';

/** What formatting finds out beside the HTML. */
export class Outcome {
  readonly mentionedUserIds = new Set<UserId>();
  readonly mentionedGroupIds = new Set<GroupId>();
  mentionsChannelWildcard = false;
  mentionsTopicWildcard = false;
  hasLink = false;
  hasImage = false;
  readonly uploadPaths = new Set<string>();
  readonly pendingThumbnails = new Set<string>();
}
