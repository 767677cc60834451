import {
  CreateCall,
  type CreateCallInput,
  CreateMeetingLink,
  JoinMeeting,
  MAX_MEETING_NAME_LENGTH,
} from '@parley/domain/realms';
import type { HttpFeature } from '../declarations/feature.js';
import { fixedSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { BooleanParam, NoParameters, TextParam } from '../params/params.js';
import { redirectTo } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

class CreateZoomCallDto {
  @BooleanParam({ description: 'Whether it is a video call.' }) is_video_call = true;
}
class CreateBigBlueButtonCallDto {
  @TextParam({ max: MAX_MEETING_NAME_LENGTH, description: 'Name of the meeting.' }) meeting_name!: string;
  @BooleanParam({ description: 'Whether it is a call without video.' }) voice_only = false;
}
class JoinBigBlueButtonCallDto {
  @TextParam({ max: MAX_TEXT_LENGTH, description: 'Signed description of the meeting.' }) bigbluebutton!: string;
}
class CreateNextcloudTalkCallDto {
  @TextParam({ max: MAX_TEXT_LENGTH, description: 'Name of the room.' }) room_name!: string;
}

const JOIN_PATH = '/calls/bigbluebutton/join';

const callOf = (provider: CreateCallInput['provider']) => ({
  section: 'organization §20' as const,
  lacks: 'the provider cannot be configured: it answers that it is not',
  withoutPage: 'calls' as const,
  auth: 'user' as const,
  scope: 'account' as const,
  useCase: CreateCall,
  toInput: (): CreateCallInput => ({ provider }),
});

/** Routes of call providers. Jitsi needs none, because clients generate its URLs (organization §20). */
export const callRoutes: readonly Route[] = [
  route('POST', '/calls/zoom/create', { summary: 'Create a Zoom call', ...callOf('Zoom'), dto: CreateZoomCallDto }),
  route('GET', '/calls/bigbluebutton/create', {
    summary: 'Create a BigBlueButton call',
    section: 'organization §20',
    auth: 'user',
    scope: 'account',
    dto: CreateBigBlueButtonCallDto,
    useCase: CreateMeetingLink,
    toInput: ({ meeting_name, voice_only }) => ({ name: meeting_name, isVoiceOnly: voice_only }),
    response: wire.fields({ url: wire.text() }),
    present: (link) => ({ url: `${JOIN_PATH}?bigbluebutton=${link}` }),
  }),
  // Browsers open this URL from links in messages.
  route('GET', JOIN_PATH, {
    summary: 'Join a BigBlueButton call',
    section: 'organization §20',
    auth: 'user',
    scope: 'account',
    atRoot: true,
    dto: JoinBigBlueButtonCallDto,
    useCase: JoinMeeting,
    response: 'bytes',
    handle: async ({ dto, caller, useCase }) => ({
      ...redirectTo(await useCase.execute(caller, { link: dto.bigbluebutton })),
      // The URL joins the call under the caller's name.
      cacheControl: 'no-store',
    }),
  }),
  route('POST', '/calls/constructorgroups/create', {
    summary: 'Create a Constructor Groups call',
    ...callOf('Constructor Groups'),
    dto: NoParameters,
  }),
  route('POST', '/calls/nextcloud_talk/create', {
    summary: 'Create a Nextcloud Talk call',
    ...callOf('Nextcloud Talk'),
    dto: CreateNextcloudTalkCallDto,
  }),
  route('POST', '/calls/webex/create', { summary: 'Create a Webex call', ...callOf('Webex'), dto: NoParameters }),
];

export const CALLS = {
  tag: 'Bots and integrations',
  routes: () => callRoutes,
  // Constant, because users cannot sign in to a call provider.
  registerSections: () => [
    fixedSection(
      'video_calls',
      { has_zoom_token: wire.boolean(), has_webex_token: wire.boolean() },
      { has_zoom_token: false, has_webex_token: false },
    ),
  ],
} satisfies HttpFeature;
