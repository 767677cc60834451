import type { HttpFeature } from '../feature.js';
import { AUTHENTICATION_WIRE_ERRORS } from './authentication.errors.js';
import { authenticationRoutes } from './authentication.routes.js';

export const AUTHENTICATION = {
  routes: authenticationRoutes,
  errors: AUTHENTICATION_WIRE_ERRORS,
} satisfies HttpFeature;
