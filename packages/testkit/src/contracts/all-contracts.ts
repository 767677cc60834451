import { actorReadsContract } from './actor-reads.contract.js';
import { apiKeyRepositoryContract } from './api-key-repository.contract.js';
import { channelRepositoryContract } from './channel-repository.contract.js';
import { eventLogContract } from './event-log.contract.js';
import { eventQueueRepositoryContract } from './event-queue-repository.contract.js';
import { groupRepositoryContract } from './group-repository.contract.js';
import { jobRepositoryContract } from './job-repository.contract.js';
import { messageMovesContract } from './message-moves.contract.js';
import { messagePageReadsContract } from './message-page-reads.contract.js';
import { messageRepositoryContract } from './message-repository.contract.js';
import { permissionRulesContract } from './permission-rules.contract.js';
import { personalMessagesContract } from './personal-messages.contract.js';
import { profileRepositoryContract } from './profile-repository.contract.js';
import { reactionRepositoryContract } from './reaction-repository.contract.js';
import { realmRepositoryContract } from './realm-repository.contract.js';
import { recipientRepositoryContract } from './recipient-repository.contract.js';
import type { OpenStorage } from './storage-under-test.js';
import { topicPolicyRepositoryContract } from './topic-policy-repository.contract.js';
import { topicReadsContract } from './topic-reads.contract.js';
import { unitOfWorkContract } from './unit-of-work.contract.js';
import { userRepositoryContract } from './user-repository.contract.js';

/** Everything that a storage has promised. Called at the top of a test file, or inside its `describe`. */
export function storageContracts(open: OpenStorage): void {
  unitOfWorkContract(open);
  realmRepositoryContract(open);
  userRepositoryContract(open);
  actorReadsContract(open);
  groupRepositoryContract(open);
  channelRepositoryContract(open);
  topicPolicyRepositoryContract(open);
  recipientRepositoryContract(open);
  messageRepositoryContract(open);
  messagePageReadsContract(open);
  topicReadsContract(open);
  messageMovesContract(open);
  personalMessagesContract(open);
  reactionRepositoryContract(open);
  profileRepositoryContract(open);
  eventLogContract(open);
  eventQueueRepositoryContract(open);
  apiKeyRepositoryContract(open);
  jobRepositoryContract(open);
  permissionRulesContract(open);
}
