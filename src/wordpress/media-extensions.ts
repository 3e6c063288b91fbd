/**
 * Extensions of files that can be in a media library, in lower case: those of WordPress (`wp_get_mime_types`), and
 * those that plugins often add to them.
 */
const MEDIA_EXTENSIONS: ReadonlySet<string> = new Set(
  `jpg jpeg jpe gif png bmp tif tiff webp avif ico heic heif heics heifs
  asf asx wmv wmx wm avi divx flv mov qt mpeg mpg mpe mp4 m4v ogv webm mkv 3gp 3gpp 3g2 3gp2
  txt asc c cc h srt csv tsv ics rtx css htm html vtt dfxp
  mp3 m4a m4b aac ra ram wav x-wav ogg oga flac mid midi wma wax mka
  rtf js pdf swf class tar zip gz gzip rar 7z exe psd xcf
  doc pot pps ppt wri xla xls xlt xlw mdb mpp docx docm dotx dotm xlsx xlsm xlsb xltx xltm xlam
  pptx pptm ppsx ppsm potx potm ppam sldx sldm onetoc onetoc2 onetmp onepkg oxps xps
  odt odp ods odg odc odb odf wp wpd key numbers pages
  svg svgz ai eps indd opus weba json xml kml kmz gpx geojson vcf epub mobi ttf otf woff woff2 glb gltf`.split(/\s+/),
);

/** Whether a path is that of a file that can be in a media library, according to its extension. */
export const isMediaPath = (path: string): boolean => MEDIA_EXTENSIONS.has(/\.([^./\\]*)$/.exec(path)?.[1]?.toLowerCase() ?? '');
