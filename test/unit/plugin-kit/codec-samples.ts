/** Small files as the programs `zstd` 1.5 and `bzip2` 1.0 write them. */
const decoded = (base64: string): Buffer => Buffer.from(base64, 'base64');

/** What the samples named `lines` hold. */
export const LINES = Buffer.from(
  Array.from({ length: 60 }, (_, i) => `${String(i)},name ${String((i * 7919) % 101)},市${'x'.repeat(i % 9)}\n`).join(
    '',
  ),
);

/** `streamed`: without a size and a checksum. `zeros`: a million of them. */
export const ZSTD = {
  lines: decoded(
    'KLUv/WRbA10JAMLPIxbQpQMARYHjM+KtFvxIKYmUUg6OJRAoQqYZWvmsznoiK6X1Y9Z7fNYXsr5k9Vl99Vi96q96ofrqTXC1plRh' +
      'UiENdQTqPdQbqxT1pXioaSZ0Iby86U0vTG+zm75o+srpyab39HOuyb3TxYR0n+7RPbo/F1cQsh/sDa+vEvpbT0L1Q/3g9C73QJKg' +
      'AEQxGEEJeqgwEGt7BxAlsvQQIELlSRtQiFS5S+xlj6fCRDIZBr5B/A/E/682H4F7AgXxXLL7x0PBnCHGIDsg/BrfrgDhrst9WTeu' +
      '/6IMlRHHofKlYrcEhy5jL/yLZpRoLHEgLUFjQFV++/cB5vJws1snIYkCh1Vq8n3gdYGunXGA2lpKmjopk2BmfhYb4zlsrIdyr1Do' +
      'IuezinPQB2qkKDJT4Q==',
  ),
  streamed: decoded(
    'KLUv/QBYVQoAxpAmGrAlhcYMc5AkD9RPEQuapNzee0spZcMRcWYdJQAcABwA42MMoxDFifiR4W8m/LyEOZUTIR8gKBiMjQMEBYMg' +
      'EEAAgAGDEA5yQT7kN8ityK2Q19GQ0xinxqeMhxsv42WcjJPC3PyEuZG5kfKy8pJE+VD5kPJgZZjyUk7KCfmgLs7vzjm3cX5WOac7' +
      'P59xHuo8FPNibk7MYT7MA3WoMM7iMG0G4MKSoB0QIKSo1DYeTBtIbJH0td7bXjK3fS/ii4fbx+yANAmI9g8D36P2agyvFHuZv/vE' +
      '4ZgW1twgK0wLDwi6BfLgN1m+ioP5DjcOn2JyER1o+KEYI3gocFy/8etDe+9nFsMwsRp84bQOxh2I4PeovqpPAu+j3a8Inw1oAd9C' +
      'zQtT3dlxFrWNZFodnb8YuvzKRBp5Lh+/FzyyenxS7AlNlygSgkgB',
  ),
  empty: decoded('KLUv/SQAAQAAmenYUQ=='),
  zeros: decoded('KLUv/QRYVAAAEAAAAQD7/znAAgIAEAACABAAAgAQAAIAEAACABAAAgAQAAMSCgDMrso5'),
};

/** `runs`: runs of 1 to 300 equal letters. */
export const BZIP2 = {
  lines: decoded(
    'QlpoOTFBWSZTWY+uPCsAAIhZyXwQQAR/4CIDAEAQAABAAgAwAUjAGqA/9VSZMCYmBTPSnqm1IBtQAZqqe0YVJoA2of5JJV1KqK67' +
      'LRIAkASAKEG27ttv1a1735dLRx4mZ7mggJJjxOgNkkiXOjyABNTkApJINnsYikkorAWCMxMBmCJhZqsYSjCCKwA4mJiqXE1lPW+7' +
      'beSt7327X35c1gAIAYVd6nnfKjN1K2AgBAC3F3zNa1lUAIAYOqmZzOZMzVgIAQAiIiLkzKjLmBACAGEau7uciNJm9VVSb3dNTPOc' +
      'q8q6rSd61d2Fy30k2+km30k2+km35SSXQhCBgwQJpIAEAgBpJDbS/Um3/JNuEm3/i7kinChIR9ceFYA=',
  ),
  empty: decoded('QlpoORdyRThQkAAAAAA='),
  zeros: decoded('QlpoMTFBWSZTWXnTnkgAB6jAQMAAAAIACCAAMMwJqmmVJDapSQ8XckU4UJB5055I'),
  runs: decoded(
    'QlpoMTFBWSZTWVErA/oAAFv////////////////////////////////////////////4QAKxAAJgklVTIDfmqoA0NDJ+qe9Un6k/' +
      'VDTR6HvVUAGgDQB6jQaaADRo0NAMg9Ro0GQNHpDI9IbU0PUPUyaPU0zU8jQ01NPU/VGT9U9Q9PUT1NPEZMmAIS9I0P/SqAaMmn/+' +
      'qqmmjRkDTTEMgMg0aZNAAyZDI0aaaYhoDEwmg0ZNAaaAGhkyBkZDQaaA0AAYmgaAZNGhpk0NGEVU0xMI0w/1UI/1UZMQaZGmJkZM' +
      'mhphNNNMgyGEyaaYE0wATJgmATAAARiNNDIwIYIwAAAAABMACYTQQAAAAAAAAABoAAAAAAAAADQAAAAAAAAAAAAAAAAAAAAAGZgo' +
      'N7es29vj5nFPqPyP6Z1M8mfSATQJoU0SaNNImlSBSCSDQFChQoUoUKFChBBBBBBBBBAAAAAALQv2deAAAAAAAAAAAF5YsWVV2WsO' +
      '9L8PmtBrK6a5SAA6FomSjJJ3JN0+PmvOzeiqq/C85ABCwjCslxiSdimxmR47LT9HKsH9HDCkD2SiE9gW5bzi2x3icnl/k/H99nzU' +
      '5CAohcMwLFOnG7jJ877OfpNdtMXjYQFgxYFgUl0lshO9LPUNNLsZzt4QFELCMCkuktkstjM3RU9XZdjkIQFEKQwJ7nt5OY7PO/bq' +
      'v72vc+HCAohSGBPc9p3M4+go6mss8jlIQFEKQwJ7nt6XveF9Gk/SZaePlYQFEKQwJ7nt68/k6KllbHbTuXhAUQpDAnue09QZXRU+' +
      'trbX1PbhAUQpDAnue3wUOY0dRL2Vtmc5CAohSGBPc9s9oJ78tZ/Vdb5zPQgKJEhhD3PoaOfp5VZYXFBAhE0jimESXSdDSZ/V67Yb' +
      'S5+qBCOIRhGEYl2J0dPRVVXW2V190CERkR2EYh2Ipqmj1tZ/9nd0kCERkR2EYd2HqJVLV7Gw215qYEIjIjsIm3Un6y6XX7Kxtr2q' +
      'gQiMiOwibdKl1lNW2FncS9vAhEZEdhE26r19bpq+ytbqZu9+EmZLh0cSwjkL7sP+r6mxtLe7mQwJX5klgkYNhHH32u2ersrS2uby' +
      'ZDvECSMCKJgV8wzbW0qLW3ubu9gmQIRghYBgUOGa4udVdXd5e7eZMgQjAb3vV8jcDDqNJofnzua9b0Mpku87Trca44C83VkAAAAA' +
      'AAAAAAAAAAAAAAAAAAAAAAAAAACEIQhCEEBAQEBAQEBAQEBAQEBAREREhCgoIBAIBA/4u5IpwoSCiVgf0A==',
  ),
};
