import { gunzipSync } from 'node:zlib';

const unpacked = (base64: string): Buffer => gunzipSync(Buffer.from(base64, 'base64'));

/** Two frames of 2 × 2 pixels. */
export const ANIMATED_GIF = Buffer.from(
  'R0lGODlhAgACAIAAAExpcf///yH5BAUAAAAALAAAAAACAAIAAAICjFMAIfkEBQAAAAAsAAAAAAIAAgCATGlxAAAAAgKMUwA7',
  'base64',
);

/** 3 × 2 pixels. */
export const TIFF = Buffer.from(
  'SUkqABoAAABkZGRkZGRkZGRkZGRkZGRkZGQPAAABAwABAAAAAwAAAAEBAwABAAAAAgAAAAIBAwADAAAA5AAAAAMBAwABAAAAAQAAAAYBAwABAAAAAgAAABEB' +
    'BAABAAAACAAAABIBAwABAAAAAQAAABUBAwABAAAAAwAAABYBAwABAAAAAgAAABcBBAABAAAAEgAAABoBBQABAAAA1AAAABsBBQABAAAA3AAAABwBAwABAAAA' +
    'AQAAACgBAwABAAAAAgAAAFMBAwADAAAA6gAAAAAAAAAzM8sAAAAIADMzywAAAAgACAAIAAgAAQABAAEA',
  'base64',
);

/**
 * Photo of 40 × 20 pixels, red on the left and blue on the right in Display P3. Its EXIF data names a camera and a
 * location.
 */
export const HEIC_PHOTO = unpacked(
  'H4sIAAAAAAACA31UXUgUURQ+d8bNTUwrtxArWU1psYLdfMgezMW1wtAU3Uirl3H278bO7jSzqb1U1pb9EJiChBBtvRQUVoRB9ZD2JD2UkvjQQ4YPoRESBmWU' +
    'TefOzLarUHc5c7577jnnnnt+FgA2BmIn5ZCfioBLogEXwxIVAgD8a8kfE8BYRSFfWDExyFSMwbKVI9OYpCMOaTX1CYaKA2z4raPhqEgQ1LiBB2KY8PNJBF60' +
    'SuIkt6KmvjL2JmUkBz/1lEYChgOkdbjxc8wKdULtogvShHowQYX6YIkm2u3ppMwH95LKioz8JpXFKApUdOEhvPz3XYVf4NfiwgJALm9H03w3ySaaxhR46NFD' +
    '4KHwGecuwsMt1YQsO0nYuyz9nwYHPg6fYXv9Ey9G3RU1ZEQduYQ32Kgq+83b3Calyxxsj2F/FqNhRVaiGDf5EBYlNcOOJYvElKZ91faW1sP2zGl0boOVkAOb' +
    'BFGV65v3epkDVehQxZgSXlqwb5NGVt9uDwkR39npu8qVy1XfS3c/7Z0rmRyE/68sn19lLfMLqUSUFaw1wWiguCMmM1zDYhZDAiaetCDepmCAiONMHjTwdYbb' +
    'DHyfYcXb5EE8jNgeTMNtaVgKnxDT+iTbHznYrPcKtjKo0Ajl4PmHzgpdx4M/JwDL1/I8qIHyHYZVdjWA5b2mfS0FyOwDWOzRtJ+3NO33AazfAMCwLWV/bgqg' +
    '8gVDKdl+3D/aiWkaSskcFQBrsgBGO2VBEf72LxegAPN3AFa1AuSNoc0RNj8y7aS6itXK3raBylJyFHFSuC4OOJ6Pn2d+qeIPJIfQR6WgPkrsSTmiD4vExo11' +
    '/THJGMlGB3mwcjTcXbBr86HT2uOL2uLx/u759eO3t0bfxCt/nL0w5Z149XxP39xM8WyxOM71zi4+HCqryjpaN5V41xCMNtx40jZ2rzLL5XBfGuu8mshnF9fW' +
    'luk1sEIu4SAT0SmktcSYdUYFxKLzCHuNidtZ+KYOm9Y8LqVPuzN0fgGp9KKBJ8xnVmB5Z/gU9wiSn6UUK9yTCRmo4dzhcpJrBiboFRKm3OV0koRxi6bhrQnD' +
    'M5sx3sS2VJ6RWFwH9J1Fr9e8eVpuxlmY9o/F+B/bfXHIVAUAAA==',
);

/** The same photo rotated 90° to the right: red at the top. */
export const TURNED_HEIC_PHOTO = unpacked(
  'H4sIAAAAAAACA31UXUgUURQ+d2Z1VzH7cQspk82SFivYzYfswVpcNYx+JDfK6mWcnd29sbM7zUxlL5Vm/hSBFUgEwdZLQtEPYVA9ZG8RQUoi0UOGD6EREhuU' +
    'kTadOzO6m1B3OXO+e+455557fhYASiL6KSUmURFwyTTiZ1imQgSAfydLugDWWhMLx1Ubg0JFHRasQoXqsok4pCU0LFgqXnDjdxeNJ0WCoDYAPBDLhE+bKB8p' +
    'hFa2dJ67UNNcjvo5PVKIfDeliYjlAGk5biSOWaFO7ITohyyhGUxUpWH4SxPt6lop88G9poqqIO+niphEgYYugoRX5t9V+hVmZqenARbzHjQtDpACYhhMgYde' +
    'MwQeSp9ygTV4uL6GkAUnKU9bTt/ne9c/DZ5le/PTUYa6ubXkhfaiB29wU02R7NsCNmXLvGyPYX8Rk3FVUZMYN/kYF2XN4cGSJXR1344az8HmQx7nODp3Qx4U' +
    'wmpB1JTdTfUh5kATTmqirsb/Ltj3USvTbzfFhES4fbxfvXhh+4/ybU+uTK0bvQf/X/lhSWMtM4O0TlRUrDXBaKDspK4wXMtiFmMCJp4cRLxRxQARdzB51MLX' +
    'GG6x8F2G1dC+IOJBxJ5oFm7JwnL8uJjVJwVSYn+T2SvYyqBBI1RC8B86uaZOEH8+AJavhXnQIpWbLauCGoCcD4bxrRzAeRVgttcwft00jN97sH7XAQbdGftz' +
    'YwDVzxnKyHbi/uEWTNNARuatAliKPfyyVRFUYb5/uQgFSN8GWNQMUDSENofZ/Ci0lZoqLhd7Wx5VkzpTL6GKPDeTODJcGwecg+8438luoKoUmRvHMJWj5lCx' +
    'xxWKYSwXGzzW/0dlazgbveR+3st418qtaw+cMR51G7PH+rrSK4ZvbUi+6aj+2d45Fhp59azu6tRE2WSZOMxdmZx9MFCxPf/IrrHU+73R5N4bj1uG7lTn+72B' +
    'nqHWS6lidnFDQ4VZDRcsJhw4EZ1GWkasqWe0kuSYPIG0ysYnWPi2DpvbIi6jT7scJmdPLO+28Ij9zCos9ASf4UFBllhysda9TnCghm+z30cuW5igV0jZcr/P' +
    'R1LWLYaBt6Ysz2zaeBu7M4lGYnHtMXc5ZuXS9mmlHWdp1n8X438A1HqZtV4FAAA=',
);

const BLACK = unpacked(
  'H4sIAAAAAAACA+3Xu0vDQBgA8O8SHxGKBmnFQaGti5NQcHCSoEFExVnBpcSUHjR6apT6glZXBycXBQVBFB07dergP6AoiFDnKgqOFRT90lQHR0E/0Tvu8d0r' +
    'P+5ChgBAW8JdFEmbW4DJ4YmYFzs8ngBgpmO7cfBTJDmZmq3GILjlwqfUKLjrVCKGJcpT05VHmgb2WWU46bcA7ftYdXA+lfhYH8KOrVR7yQUr5oWnXMwKbA+4' +
    'sKaxXcKJfqaKDzP3CM8v5TJAkxrGja0GC7DXV2+BCptehTmXV4wITnb1MfZpZg8MBXRm50eHhrezTFW8Ub/So7ilzmSFmfVmhIJ8Tti+Gcaie4EueJp7gapp' +
    'GjYtXDjvt4VHVrPKOh712JmM412173ayk5CRibzcFouXl2dfTOdHD0+D+dWYWz3CD2dli8bF3DBI47JxGvcuQ+EGNynU5QLFi52n+IAGKNBrAlTtpUDXKNAb' +
    'ArSmjQJdoUAvCNBakwLdoEAprreumwKdoEBzBGh9gAIdoUBTFOgOBXpPgGo9FOgYBZqmQA8p0BIFWv4vv4wS/V40/W/QQ4lKVKIS/TXolUQlKlGJSlSifwst' +
    'vQEkVwHVCx8AAA==',
);

/** 8192 × 4096 black pixels with a header that claims the given dimensions. */
export function blackHeic(width: number, height: number): Buffer {
  const image = Buffer.from(BLACK);
  const size = image.indexOf('ispe') + 8;
  image.writeUInt32BE(width, size);
  image.writeUInt32BE(height, size + 4);
  return image;
}
