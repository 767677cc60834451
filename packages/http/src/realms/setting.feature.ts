import type { HttpFeature } from '../feature.js';
import { SETTING_WIRE_ERRORS } from './setting.errors.js';

export const SETTINGS = { errors: SETTING_WIRE_ERRORS } satisfies HttpFeature;
