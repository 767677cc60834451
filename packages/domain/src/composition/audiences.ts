import { GROUP_AUDIENCES } from '../access/group-delivery.js';
import { CHANNEL_AUDIENCES } from '../channels/channel-delivery.js';
import { audiencesBy } from '../kernel/audience-membership.js';
import { MESSAGE_AUDIENCES } from '../messages/message-delivery.js';
import { USER_AUDIENCES } from '../users/user-delivery.js';

/** Of the kinds of every feature. */
export const { isInAudience, questionsOf, parseAudience } = audiencesBy({
  ...CHANNEL_AUDIENCES,
  ...GROUP_AUDIENCES,
  ...MESSAGE_AUDIENCES,
  ...USER_AUDIENCES,
});
