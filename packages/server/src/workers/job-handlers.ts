import { DeactivationLetters, DeleteContributions, EmailChangedLetters } from '@parley/domain/accounts';
import { SendLoginLetters } from '@parley/domain/authentication';
import { ForgetConfirmations, SendConfirmationLetters } from '@parley/domain/confirmations';
import { ExpireExports, WriteRealmExport } from '@parley/domain/exports';
import { ForgetInvitations, SendInvitationLetters, SendWelcomeLetters } from '@parley/domain/invitations';
import type { JobHandler } from '@parley/domain/jobs';
import { MakeThumbnails, SendGroupMembershipNotices } from '@parley/domain/messages';
import { RegisterDevices, UnregisterTokens } from '@parley/domain/push';
import { DeleteRealmData } from '@parley/domain/realms';
import { DeliverReminder, DeliverScheduledMessage } from '@parley/domain/scheduling';
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
