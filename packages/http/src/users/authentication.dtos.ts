import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { BooleanParam, TextParam } from '../kernel/params.js';

/** Also of the log-in of browsers. */
export class FetchApiKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) username!: string;
  @TextParam({ max: MAX_TEXT_LENGTH }) password!: string;
}

export class FetchDevelopmentApiKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) username!: string;
}

export class FetchApiKeyByTokenDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) token = '';
  @BooleanParam() include_profile = false;
}

export class FetchOwnApiKeyDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) password = '';
}
