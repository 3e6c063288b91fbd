/*
 * Names of time zone offsets, as PHP knows them: facts of the tz database (public domain), which Intl does not give.
 * Printed by test/fixtures/php-zones.php; run it again when a zone gets new names.
 */

/** What a bare abbreviation means: the abbreviation and its seconds east of UTC, summer time included. */
export const ABBREVIATIONS = `
acdt+37800 acst+34200 addt-7200 adt-10800 aedt+39600 aest+36000 ahdt-32400 ahst-36000 akdt-28800 akst-32400 amt-13840 apt-10800
ast-14400 awdt+32400 awst+28800 awt-10800 bdst+7200 bdt-36000 bmt-14309 bst+3600 cast+34200 cat+7200 cddt-14400 cdt-18000
cemt+10800 cest+7200 cet+3600 cmt-15408 cpt-18000 cst-21600 cwt-18000 chst+36000 dmt-1521 eat+10800 eddt-10800 edt-14400
eest+10800 eet+7200 emt-26248 ept-14400 est-18000 ewt-14400 ffmt-14660 fmt-4056 gdt+39600 gmt+0 gst+36000 hdt-34200 hkst+32400
hkt+28800 hmt-19776 hpt-34200 hst-36000 hwt-34200 iddt+14400 idt+10800 imt+25025 ist+7200 jdt+36000 jmt+8440 jst+32400 kdt+36000
kmt+5736 kst+30600 lst+9394 mddt-18000 mdst+16279 mdt-21600 mest+7200 met+3600 mmt+9017 mpt-21600 msd+14400 msk+10800 mst-25200
mwt-21600 nddt-5400 ndt-9052 npt-9000 nst-12600 nwt-9000 nzdt+46800 nzmt+41400 nzst+43200 pddt-21600 pdt-25200 pkst+21600
pkt+18000 plmt+25590 pmt-13236 ppmt-17340 ppt-25200 pst-28800 pwt-25200 qmt-18840 rmt+5794 sast+7200 sdmt-16800 sjmt-20173
smt-13884 sst-39600 tbmt+10751 tmt+12344 uct+0 utc+0 wast+7200 wat+3600 wemt+7200 west+3600 wet+0 wib+25200 wita+28800 wit+32400
wmt+5040 yddt-25200 ydt-28800 ypt-28800 yst-32400 ywt-28800 a+3600 b+7200 c+10800 d+14400 e+18000 f+21600 g+25200 h+28800 i+32400
k+36000 l+39600 m+43200 n-3600 o-7200 p-10800 q-14400 r-18000 s-21600 t-25200 u-28800 v-32400 w-36000 x-39600 y-43200 z+0
`;

/**
 * What zones call their offsets since 1960. A line that starts in the first column holds names with their minutes east
 * of UTC, the indented lines below it the zones that use them; `@seconds` starts another era. An offset without a name
 * is shown as `+03` or `+0530`.
 */
export const ZONE_ABBREVIATIONS = `
GMT+0
  Africa/Abidjan Africa/Accra Africa/Bamako Africa/Banjul Africa/Bissau Africa/Conakry Africa/Dakar Africa/Freetown Africa/Lome
  Africa/Nouakchott Africa/Ouagadougou Africa/Timbuktu America/Danmarkshavn Atlantic/St_Helena Etc/GMT Etc/GMT+0 Etc/GMT-0
  Etc/GMT0 Etc/Greenwich GMT0 Greenwich Iceland
EAT+180
  Africa/Addis_Ababa Africa/Asmara Africa/Asmera Africa/Dar_es_Salaam Africa/Djibouti Africa/Kampala Africa/Mogadishu
  Africa/Nairobi Indian/Antananarivo Indian/Comoro Indian/Mayotte
WET+0 CET+60 @41468400 WET+0 WEST+60 @246236400 WET+0 CET+60 CEST+120 @325468800 WET+0 WEST+60 @357523200 CET+60
  Africa/Algiers
WAT+60
  Africa/Bangui Africa/Brazzaville Africa/Douala Africa/Kinshasa Africa/Lagos Africa/Libreville Africa/Luanda Africa/Niamey
  Africa/Porto-Novo
CAT+120
  Africa/Blantyre Africa/Bujumbura Africa/Gaborone Africa/Harare Africa/Kigali Africa/Lubumbashi Africa/Lusaka Africa/Maputo
EET+120 EEST+180
  Africa/Cairo Asia/Beirut Asia/Nicosia Egypt Europe/Athens Europe/Bucharest Europe/Helsinki Europe/Mariehamn Europe/Nicosia
  Europe/Sofia
WET+0 WEST+60 @448243200 CET+60 CEST+120
  Africa/Ceuta
SAST+120
  Africa/Johannesburg Africa/Maseru Africa/Mbabane
CAT+120 CAST+180 @947930400 CAT+120 EAT+180
  Africa/Juba Africa/Khartoum
GMT+0 WAT+60
  Africa/Malabo Africa/Sao_Tome
MMT-44.5 GMT+0
  Africa/Monrovia
WAT+60 WAST+120
  Africa/Ndjamena
CET+60 EET+120 @386463600 CET+60 CEST+120 @641775600 CET+60 EET+120 @860108400 CEST+120 @875916000 CET+60 EET+120 @1364515200
CEST+120 @1382659200 EET+120
  Africa/Tripoli Libya
CET+60 CEST+120
  Africa/Tunis Arctic/Longyearbyen Atlantic/Jan_Mayen Europe/Amsterdam Europe/Andorra Europe/Belgrade Europe/Berlin
  Europe/Bratislava Europe/Brussels Europe/Budapest Europe/Busingen Europe/Copenhagen Europe/Gibraltar Europe/Ljubljana
  Europe/Luxembourg Europe/Madrid Europe/Malta Europe/Monaco Europe/Oslo Europe/Paris Europe/Podgorica Europe/Prague Europe/Rome
  Europe/San_Marino Europe/Sarajevo Europe/Skopje Europe/Stockholm Europe/Tirane Europe/Vaduz Europe/Vatican Europe/Vienna
  Europe/Warsaw Europe/Zagreb Europe/Zurich Poland
SAST+120 @637970400 WAT+60 CAT+120
  Africa/Windhoek
NST-660 @-86878800 BST-660 BDT-600 @436363200 AHST-600 @439034400 HST-600 HDT-540
  America/Adak America/Atka US/Aleutian
AST-600 @-86882400 AHST-600 AHDT-540 @436359600 YST-540 @439030800 AKST-540 AKDT-480
  America/Anchorage US/Alaska
AST-240
  America/Anguilla America/Antigua America/Aruba America/Blanc-Sablon America/Curacao America/Dominica America/Grenada
  America/Guadeloupe America/Kralendijk America/Lower_Princes America/Marigot America/Miquelon America/Montserrat
  America/Port_of_Spain America/Puerto_Rico America/St_Barthelemy America/St_Kitts America/St_Lucia America/St_Thomas
  America/St_Vincent America/Tortola America/Virgin
EST-300
  America/Atikokan America/Cayman America/Coral_Harbour America/Panama
MST-420 MDT-360 CDT-300 @1288508400 CST-360 CDT-300
  America/Bahia_Banderas
AST-240 ADT-180
  America/Barbados America/Glace_Bay America/Halifax America/Martinique America/Moncton America/Thule Atlantic/Bermuda
  Canada/Atlantic
CST-360 CDT-300
  America/Belize America/Chicago America/Costa_Rica America/El_Salvador America/Guatemala America/Matamoros America/Mexico_City
  America/Monterrey America/Rainy_River America/Tegucigalpa America/Winnipeg Canada/Central CST6CDT Mexico/General US/Central
MST-420 MDT-360
  America/Boise America/Denver America/Edmonton America/Hermosillo America/Mazatlan America/Phoenix America/Shiprock
  America/Yellowknife Canada/Mountain Mexico/BajaSur MST7MDT Navajo US/Arizona US/Mountain
MST-420 MDT-360 @941356800 CST-360 CDT-300 @972802800 CST-360 EST-300 @986115600 MST-420 MDT-360
  America/Cambridge_Bay
CST-360 EST-300 @828864000 CST-360 CDT-300 @877849200 EST-300 EDT-240 @902037600 CST-360 CDT-300 @1422777600 EST-300
  America/Cancun
CST-360 CDT-300 @891766800 MST-420 MDT-360 @1667116800 CST-360
  America/Chihuahua
CST-360 CDT-300 @891766800 MST-420 MDT-360 @1667116800 MST-420 CST-360 @1678611600 MST-420 MDT-360
  America/Ciudad_Juarez
MST-420
  America/Creston
YST-540 PST-480 YDDT-420 @325677600 PST-480 PDT-420 @1604214000 MST-420
  America/Dawson America/Whitehorse Canada/Yukon
PST-480 PDT-420 @84013200 MST-420
  America/Dawson_Creek
EST-300 EDT-240
  America/Detroit America/Fort_Wayne America/Indiana/Indianapolis America/Indiana/Vevay America/Indianapolis America/Jamaica
  America/Montreal America/Nassau America/New_York America/Nipigon America/Port-au-Prince America/Thunder_Bay America/Toronto
  Canada/Eastern EST5EDT Jamaica US/East-Indiana US/Eastern US/Michigan
PST-480 PDT-420
  America/Ensenada America/Los_Angeles America/Santa_Isabel America/Tijuana America/Vancouver Canada/Pacific Mexico/BajaNorte
  PST8PDT US/Pacific
PST-480 PDT-420 @1425808800 MST-420
  America/Fort_Nelson
AST-240 NST-210 ADT-180 NDT-150 ADDT-120
  America/Goose_Bay
EST-300 EDT-240 @1425798000 AST-240 @1520751600 EST-300 EDT-240
  America/Grand_Turk
CST-300 CDT-240
  America/Havana Cuba
CST-360 CDT-300 @-242236800 CST-360 EST-300 @-84384000 CST-360 CDT-300 @688546800 EST-300 @1143961200 CST-360 CDT-300
  America/Indiana/Knox America/Knox_IN US/Indiana-Starke
CST-360 CDT-300 @-273686400 EST-300 EDT-240 @126687600 CDT-300 @152089200 EST-300 EDT-240
  America/Indiana/Marengo
CST-360 CDT-300 @-147888000 CST-360 EST-300 @-84384000 CST-360 CDT-300 @247042800 EST-300 @1143961200 CST-360 CDT-300 @1194159600
EST-300 EDT-240
  America/Indiana/Petersburg
CST-360 CDT-300 @-179337600 CST-360 EST-300 @-52934400 CST-360 CDT-300 EDT-240 @-5767200 EST-300 EDT-240 @1143961200 CST-360
CDT-300
  America/Indiana/Tell_City
CST-360 CDT-300 @-179337600 EST-300 EDT-240 @1143961200 CST-360 CDT-300 @1194159600 EST-300 EDT-240
  America/Indiana/Vincennes
CST-360 CDT-300 @-273686400 EST-300 EDT-240 @1143961200 CST-360 CDT-300 EDT-240 @1194156000 EST-300 EDT-240
  America/Indiana/Winamac
PST-480 PDT-420 MDT-360 @309945600 MST-420 MDT-360
  America/Inuvik
CST-360 EST-300 EDT-240 @954662400 CDT-300 @972802800 EST-300 EDT-240
  America/Iqaluit America/Pangnirtung
PST-480 PDT-420 @325677600 YDT-480 @341402400 YST-540 PST-480 PDT-420 @439030800 AKST-540 AKDT-480
  America/Juneau
CST-360 CDT-300 @-266432400 EST-300 EDT-240 @126687600 CDT-300 @152089200 EST-300 EDT-240
  America/Kentucky/Louisville America/Louisville
CST-360 CDT-300 @972802800 EST-300 EDT-240
  America/Kentucky/Monticello
CST-360 EST-300 @290584800 CST-360 CDT-300 @694260000 CST-360 EST-300 @1113112800 CST-360 CDT-300
  America/Managua
CST-360 CDT-300 @-21484800 EST-300 @104914800 CST-360 CDT-300
  America/Menominee
CST-360 EST-300 @828864000 CST-360 CDT-300
  America/Merida
AKST-540 PST-480 PDT-420 @1457866800 AKST-540 AKDT-480 @1541325600 AKST-540 PST-480 @1552215600 AKST-540 AKDT-480
  America/Metlakatla
NST-660 @-86878800 BST-660 BDT-600 YST-540 @439030800 AKST-540 AKDT-480
  America/Nome
MST-420 MDT-360 @1289116800 CST-360 CDT-300
  America/North_Dakota/Beulah
MST-420 MDT-360 @720000000 CST-360 CDT-300
  America/North_Dakota/Center
MST-420 MDT-360 @1067155200 CST-360 CDT-300
  America/North_Dakota/New_Salem
CST-360 CDT-300 @891766800 MST-420 MDT-360 @1667116800 CST-360 CDT-300
  America/Ojinaga
CST-360 CDT-300 @972802800 EST-300 @986112000 CST-360 CDT-300
  America/Rankin_Inlet
MST-420 CST-360
  America/Regina Canada/Saskatchewan
CST-360 CDT-300 @972802800 EST-300 @986112000 CST-360 CDT-300 @1162105200 EST-300 @1173600000 CST-360 CDT-300
  America/Resolute
EST-300 EDT-240 @152082000 EST-300 AST-240
  America/Santo_Domingo
YST-540 PST-480 PDT-420 @439030800 AKST-540 AKDT-480
  America/Sitka
NST-210 NDT-150 NDDT-90
  America/St_Johns Canada/Newfoundland
MST-420 MDT-360 @73472400 CST-360
  America/Swift_Current
YST-540 YDT-480 @439030800 AKST-540 AKDT-480
  America/Yakutat
-00+0
  Antarctica/Casey Antarctica/Davis Antarctica/Palmer Antarctica/Rothera Antarctica/Vostok
AEST+600 AEDT+660
  Antarctica/Macquarie Australia/ACT Australia/Brisbane Australia/Canberra Australia/Currie Australia/Hobart Australia/Lindeman
  Australia/Melbourne Australia/NSW Australia/Queensland Australia/Sydney Australia/Tasmania Australia/Victoria
NZST+720 NZDT+780
  Antarctica/McMurdo Antarctica/South_Pole NZ Pacific/Auckland
-00+0 @1108166400
  Antarctica/Troll
EET+120 EEST+180 @1666908000
  Asia/Amman
IST+330
  Asia/Calcutta Asia/Kolkata
CST+480 CDT+540
  Asia/Chongqing Asia/Chungking Asia/Harbin Asia/Macao Asia/Macau Asia/Shanghai Asia/Taipei PRC ROC
EET+120 EEST+180 @1666904400
  Asia/Damascus
EET+120 EEST+180 @1473282000 EET+120 @1521939600 EET+120 EEST+180
  Asia/Famagusta
EET+120 EEST+180 @-81313200 IST+120 IDT+180 @820447200 EET+120 EEST+180
  Asia/Gaza Asia/Hebron
HKT+480 HKST+540
  Asia/Hong_Kong Hongkong
EET+120 EEST+180 @267915600 EET+120 @482799600 EET+120 EEST+180 @1473195600
  Asia/Istanbul Europe/Istanbul Turkey
WIB+420
  Asia/Jakarta
WIT+540
  Asia/Jayapura
IST+120 IDT+180
  Asia/Jerusalem Asia/Tel_Aviv Israel
@38775600 PKT+300 PKST+360
  Asia/Karachi
WITA+480
  Asia/Makassar Asia/Ujung_Pandang
PST+480 PDT+540
  Asia/Manila
WIB+420 WITA+480
  Asia/Pontianak
KST+510 KST+540
  Asia/Pyongyang
KST+510 KST+540 KDT+570 KDT+600
  Asia/Seoul ROK
JST+540
  Asia/Tokyo Japan
@725421600 WET+0 WEST+60 @740278800
  Atlantic/Azores
WET+0 WEST+60
  Atlantic/Canary Atlantic/Faeroe Atlantic/Faroe
@-102546000 WET+0 WEST+60
  Atlantic/Madeira
@-54770400 GMT+0
  Atlantic/Reykjavik
ACST+570 ACDT+630
  Australia/Adelaide Australia/Broken_Hill Australia/South Australia/Yancowinna
ACST+570
  Australia/Darwin Australia/North
AEST+600
  Australia/LHI Australia/Lord_Howe
AWST+480 AWDT+540
  Australia/Perth Australia/West
GMT+0 IST+60
  Eire Europe/Dublin
UTC+0
  Etc/UCT Etc/Universal Etc/UTC Etc/Zulu Universal UTC Zulu
GMT+0 BST+60
  Europe/Belfast Europe/Guernsey Europe/Isle_of_Man Europe/Jersey Europe/London GB GB-Eire
MSK+180 MSD+240 @641944800 EET+120 EEST+180
  Europe/Chisinau Europe/Tiraspol
MSK+180 MSD+240 @606870000 EET+120 EEST+180 @1301184000 EET+120
  Europe/Kaliningrad
MSK+180 MSD+240 @646783200 EET+120 EEST+180
  Europe/Kiev Europe/Kyiv Europe/Uzhgorod Europe/Zaporozhye
@606866400 MSK+180 MSD+240 @670374000 @701820000 MSK+180 MSD+240 @1301180400 MSK+180 MSK+240
  Europe/Kirov
WET+0 WEST+60 @-102549600 WET+0 CET+60 @228268800 WET+0 WEST+60 @717555600 CET+60 CEST+120 @828234000 WET+0 WEST+60
  Europe/Lisbon Portugal
MSK+180 MSD+240 @670374000 EET+120 EEST+180 @1301184000
  Europe/Minsk
MSK+180 MSD+240 @670374000 EET+120 EEST+180 @695779200 MSK+180 MSD+240 @1301180400 MSK+180 MSK+240
  Europe/Moscow W-SU
MSK+180 MSD+240 @606870000 EET+120 EEST+180
  Europe/Riga Europe/Tallinn
EET+120 MSK+180 MSD+240 @701827200 EET+120 EEST+180 MSD+240 @780447600 MSK+180 MSD+240 @859683600 EET+120 EEST+180 MSK+240
@1414274400 MSK+180
  Europe/Simferopol
MSK+180 MSD+240 @606870000 EET+120 EEST+180 @891133200 CET+60 CEST+120 @941331600 EET+120 EEST+180
  Europe/Vilnius
@575416800 MSK+180 MSD+240 @670374000 @701820000 MSK+180 MSD+240 @1301180400 MSK+180 MSK+240 @1540681200 MSK+180
  Europe/Volgograd
GST+600 GDT+660 @977493600 ChST+600
  Pacific/Guam Pacific/Saipan
HST-600
  Pacific/Honolulu Pacific/Johnston US/Hawaii
SST-660
  Pacific/Midway Pacific/Pago_Pago Pacific/Samoa US/Samoa
`;
