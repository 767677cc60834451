import { MAX_TEXT_LENGTH } from '../routing/limits.js';
import { TextParam } from '../routing/params.js';

export class FetchApiKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) username!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password!: string;
}

export class FetchDevelopmentApiKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) username!: string;
}
