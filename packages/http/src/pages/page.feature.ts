import type { HttpFeature } from '../feature.js';
import { accountPages } from './account.pages.js';
import { homePages } from './home.pages.js';
import { signUpPages } from './sign-up.pages.js';

/** What people see in a browser. */
export const PAGES = {
  routes: (parts) => [...homePages(parts), ...accountPages(parts), ...signUpPages(parts)],
} satisfies HttpFeature;
