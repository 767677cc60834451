import { fixedSection } from '../events/register-section.js';
import type { HttpFeature } from '../feature.js';
import * as wire from '../kernel/wire-schema.js';
import { callRoutes } from './call.routes.js';

export const CALLS = {
  routes: () => callRoutes,
  // Nobody has signed in to a provider.
  registerSections: () => [
    fixedSection(
      'video_calls',
      { has_zoom_token: wire.boolean(), has_webex_token: wire.boolean() },
      { has_zoom_token: false, has_webex_token: false },
    ),
  ],
} satisfies HttpFeature;
