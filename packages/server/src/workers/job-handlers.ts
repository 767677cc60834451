import { ForgetConfirmations, SendConfirmationLetters } from '@parley/domain/access';
import { ExpireExports, WriteRealmExport } from '@parley/domain/exports';
import type { JobHandler } from '@parley/domain/kernel';
import {
  DeactivationLetters,
  DeleteContributions,
  EmailChangedLetters,
  ForgetInvitations,
  SendInvitationLetters,
  SendWelcomeLetters,
} from '@parley/domain/membership';
import {
  DeliverReminder,
  DeliverScheduledMessage,
  MakeThumbnails,
  SendGroupMembershipNotices,
} from '@parley/domain/messages';
import { RegisterDevices, UnregisterTokens } from '@parley/domain/push';
import { DeleteRealmData } from '@parley/domain/realms';
import { SendLoginLetters } from '@parley/domain/users';
import type { Resolve } from '../resolve.js';

/** One for each kind of job. */
export const jobHandlersOf = (resolve: Resolve): readonly JobHandler[] => [
  resolve(SendLoginLetters),
  resolve(DeactivationLetters),
  resolve(DeleteContributions),
  resolve(SendConfirmationLetters),
  resolve(ForgetConfirmations),
  resolve(EmailChangedLetters),
  resolve(ExpireExports),
  resolve(WriteRealmExport),
  resolve(MakeThumbnails),
  resolve(SendGroupMembershipNotices),
  resolve(SendInvitationLetters),
  resolve(SendWelcomeLetters),
  resolve(ForgetInvitations),
  resolve(RegisterDevices),
  resolve(UnregisterTokens),
  resolve(DeliverScheduledMessage),
  resolve(DeliverReminder),
  resolve(DeleteRealmData),
];
