import { CreateCall, type CreateCallInput } from '@parley/domain/realms';
import { MAX_TEXT_LENGTH } from '../routing/limits.js';
import { BooleanParam, NoParameters, TextParam } from '../routing/params.js';
import { type Route, route } from '../routing/route.js';

class CreateZoomCallDto {
  @BooleanParam() is_video_call = true;
}
class CreateBigBlueButtonCallDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) meeting_name!: string;
  @BooleanParam() voice_only = false;
}
class CreateNextcloudTalkCallDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) room_name!: string;
}

const callOf = (provider: CreateCallInput['provider']) => ({
  auth: 'user' as const,
  useCase: CreateCall,
  toInput: (): CreateCallInput => ({ provider }),
});

/** Jitsi needs nothing of the server: clients make its addresses themselves (organization §20). */
export const callRoutes: readonly Route[] = [
  route('POST', '/calls/zoom/create', { ...callOf('Zoom'), dto: CreateZoomCallDto }),
  route('GET', '/calls/bigbluebutton/create', { ...callOf('BigBlueButton'), dto: CreateBigBlueButtonCallDto }),
  route('POST', '/calls/constructorgroups/create', { ...callOf('Constructor Groups'), dto: NoParameters }),
  route('POST', '/calls/nextcloud_talk/create', { ...callOf('Nextcloud Talk'), dto: CreateNextcloudTalkCallDto }),
  route('POST', '/calls/webex/create', { ...callOf('Webex'), dto: NoParameters }),
];
